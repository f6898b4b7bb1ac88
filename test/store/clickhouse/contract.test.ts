// The contracts of sinks and sources, against ClickHouse over HTTP and embedded.
import { sinkContract } from '../../contract/sink.ts'
import { pointSourceContract } from '../../contract/source.ts'
import { PLACES, sinkSubjects, toSourceSubject } from './subjects.ts'

for (const subject of sinkSubjects) sinkContract(subject)
for (const place of PLACES) pointSourceContract(toSourceSubject(place))
