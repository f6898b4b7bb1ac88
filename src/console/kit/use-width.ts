// The width of an element, followed: a picture in SVG is drawn in px, so that its lines and texts keep their sizes.
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** `usual` before the first layout, at least `least`. */
export function useWidth<E extends Element = HTMLDivElement>(usual: number, least: number) {
  const box = useRef<E>(null)
  const [width, setWidth] = useState(usual)
  useLayoutEffect(() => {
    const element = box.current!
    const measure = () => setWidth(Math.max(least, element.clientWidth))
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return [box, width] as const
}
