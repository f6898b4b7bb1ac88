// The contracts of sinks and sources, against a real InfluxDB.
import { sinkContract } from '../../contract/sink.ts'
import { pointSourceContract } from '../../contract/source.ts'
import { sinkSubject, sourceSubject } from './subjects.ts'

sinkContract(sinkSubject)
pointSourceContract(sourceSubject)
