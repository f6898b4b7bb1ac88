// What a process has used of the machine, read from Linux's /proc.
import { readFileSync } from 'node:fs'

/** The processor time a process has used, in ms: unlike the time of day it is the same on a machine that is busy with other things. */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const [userTicks, systemTicks] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
  return (Number(userTicks) + Number(systemTicks)) * 10
}

/** Bytes that a process has handed to `write` and the like, its sockets included. */
export const writtenBytes = (pid: number | 'self'): number =>
  Number(/^wchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))![1])

/** Memory that a process holds now, and the most it ever held, in bytes. */
export function memoryOf(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const of = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024
  return { now: of('VmRSS'), peak: of('VmHWM') }
}
