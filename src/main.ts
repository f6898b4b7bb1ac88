// The server's entry: makes sure of the threads it needs, which can only be set before a process starts, then runs it.
import { ensureThreads } from './ensure-threads.ts'

ensureThreads(import.meta.path)
await import('./run-server.ts')
