// `stint timings`: how long each run took, and what never ended.
import type { Io } from './io.ts'
import type { Program } from './program.ts'
import { type FilterName, toParameters } from './questions/filters.ts'
import { ALL_FLAG, addQuestion, answerQuestion, type QuestionOptions } from './questions/question-command.ts'
import { TIMINGS } from './questions/timing-shape.ts'

const FILTERS: readonly FilterName[] = ['from', 'to', 'process', 'meta', 'uid', 'state', 'limit']

export function register(program: Program, io: Io): void {
  addQuestion(program, 'timings', 'how long each run took, newest first', FILTERS)
    .option(...ALL_FLAG)
    .action((options: QuestionOptions) => answerQuestion(io, TIMINGS, options, toParameters(options, FILTERS)))
}
