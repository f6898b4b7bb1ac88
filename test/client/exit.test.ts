// The last events of a process in Node, or in Bun where Node is missing; the other runtimes: exit.slow.ts.
import { findNode } from '../support/needs.ts'
import { describeExits } from './exit-trial.ts'

const node = findNode()
if (node === undefined) describeExits('bun', [process.execPath])
else describeExits('node', [node])
