// The contract of sinks over HTTP.
import { sinkContract } from '../../contract/sink.ts'
import { OVER_HTTP, toSinkSubject } from './subjects.ts'

sinkContract(toSinkSubject(OVER_HTTP))
