// The real file system, until a test says that writing fails: then every write, sync and creation does, as on a broken disk.
import { type Disk, systemDisk } from '../../src/spool/disk.ts'

export interface FailingDisk extends Disk {
  isBroken: boolean
}

export function createFailingDisk(): FailingDisk {
  const guard = <A extends unknown[], R>(work: (...args: A) => Promise<R>) => {
    return (...args: A): Promise<R> =>
      disk.isBroken
        ? Promise.reject(Object.assign(new Error('EIO: i/o error, write /secret/path'), { code: 'EIO' }))
        : work(...args)
  }
  const disk: FailingDisk = {
    ...systemDisk,
    isBroken: false,
    async open(path, how) {
      if (how === 'create') await guard(async () => {})()
      const file = await systemDisk.open(path, how)
      return {
        read: (into, at) => file.read(into, at),
        write: guard((from: Uint8Array, at: number) => file.write(from, at)),
        datasync: guard(() => file.datasync()),
        truncate: guard((bytes: number) => file.truncate(bytes)),
        size: () => file.size(),
        isLinked: () => file.isLinked(),
        close: () => file.close(),
      }
    },
    syncDir: guard((dir: string) => systemDisk.syncDir(dir)),
  }
  return disk
}
