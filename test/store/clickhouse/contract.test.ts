// The contracts of sinks and sources, with the embedded engine. Questions are the same statements over HTTP, where source.test.ts asks
// them; what is written differs there: contract.slow.ts.
import { sinkContract } from '../../contract/sink.ts'
import { pointSourceContract } from '../../contract/source.ts'
import { EMBEDDED, toSinkSubject, toSourceSubject } from './subjects.ts'

sinkContract(toSinkSubject(EMBEDDED))
pointSourceContract(toSourceSubject(EMBEDDED))
