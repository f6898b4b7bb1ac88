import { expect, test } from 'bun:test'
import { closeAtEnd, closeLeftovers } from './leftovers.ts'

test('closes once what was not closed, and ignores that it fails', () => {
  const closed: string[] = []
  closeAtEnd(async () => closed.push('left'))
  const forget = closeAtEnd(async () => closed.push('closed'))
  closeAtEnd(() => Promise.reject(new Error('gone')))
  forget()
  closeLeftovers()
  closeLeftovers()
  expect(closed).toEqual(['left'])
})
