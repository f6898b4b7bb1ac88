// The contracts of sinks and sources. What is written differs over HTTP, so sinks run twice; questions are the same statements, and over HTTP
// they are asked in source.test.ts.
import { sinkContract } from '../../contract/sink.ts'
import { pointSourceContract } from '../../contract/source.ts'
import { EMBEDDED, sinkSubjects, toSourceSubject } from './subjects.ts'

for (const subject of sinkSubjects) sinkContract(subject)
pointSourceContract(toSourceSubject(EMBEDDED))
