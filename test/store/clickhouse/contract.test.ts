// The contracts of sinks and sources, against ClickHouse over HTTP and embedded.
import { sinkContract } from '../../contract/sink.ts'
import { pointSourceContract } from '../../contract/source.ts'
import { sinkSubjects, sourceSubjects } from './subjects.ts'

for (const subject of sinkSubjects) sinkContract(subject)
for (const subject of sourceSubjects) pointSourceContract(subject)
