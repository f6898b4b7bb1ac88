// The contracts of sinks and sources over the Distributed tables of a cluster.
import { sinkContract } from '../../contract/sink.ts'
import { pointSourceContract } from '../../contract/source.ts'
import { placeCluster, toSinkSubject, toSourceSubject } from './subjects.ts'

const PLACE = { name: 'ClickHouse cluster', place: placeCluster }

sinkContract(toSinkSubject(PLACE))
pointSourceContract(toSourceSubject(PLACE))
