// kill -9 of Stint, of its stores and of the answers between them, at random moments under load.
import { test } from 'bun:test'
import { lacks } from '../support/fault-trial.ts'
import {
  KILL,
  KILL_AT_CALL,
  KILL_CLICKHOUSE,
  KILL_IN_ROTATION,
  KILL_IN_START,
  KILL_INFLUXD,
  UNTIL_HARD,
} from './round.ts'
import { survive } from './survive.ts'

test.skipIf(lacks('chdb'))(
  'Stint with the embedded store survives kills during delivery, start, key rotation and (by strace) renames, syncs and unlinks',
  async () => {
    const cut = lacks('ptrace') ? [] : [KILL_AT_CALL, KILL_AT_CALL, KILL_AT_CALL]
    await survive('embedded', [KILL, KILL_IN_START, KILL_IN_ROTATION, ...cut])
  },
)

test.skipIf(lacks('chdb', 'influxd'))(
  'Stint, InfluxDB and ClickHouse survive kills during the search for poison while 30 % of the write answers are lost',
  async () => {
    await survive('remote', [KILL, KILL_INFLUXD, KILL, KILL_CLICKHOUSE, UNTIL_HARD, KILL])
  },
)
