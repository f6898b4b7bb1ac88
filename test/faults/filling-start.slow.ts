// A disk that is full before the start is over; full-start.slow.ts starts on one that was full before.
import { test } from 'bun:test'
import { join } from 'node:path'
import pino from 'pino'
import { systemClock } from '../../src/clock.ts'
import { readConfig } from '../../src/config.ts'
import type { Rooms } from '../../src/service/open-rooms.ts'
import { startService } from '../../src/service.ts'
import { waitingStores } from '../support/app.ts'
import { lacks } from '../support/fault-trial.ts'
import { until } from '../support/until.ts'
import { isUp, useDisks } from './disk-trial.ts'

const { mount } = useDisks()

test.skipIf(lacks('tmpfs'))(
  'a disk that fills during the start does not end it; Stint is ready when there is room',
  async () => {
    const disk = mount(160)
    const config = { ...readConfig({ PORT: '0', DATA_DIR: join(disk.dir, 'data') }), host: '127.0.0.1' }
    const log = pino({ level: 'silent' })
    const start = (replace: (rooms: Rooms) => Rooms = (rooms) => rooms) =>
      startService(config, systemClock, log, { openStores: async () => waitingStores, replace })
    await (await start()).stop()
    const service = await start((rooms) => {
      disk.fill()
      return rooms
    })
    await until('it is noticed', async () => !(await isUp(service.url, '/readyz')))
    disk.free()
    await until('ready again', () => isUp(service.url, '/readyz'))
    await service.stop()
  },
)
