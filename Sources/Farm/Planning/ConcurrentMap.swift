import Dispatch

/// Applies a function to every element, on as many threads as there are cores, and gives the results in order.
package func concurrentMap<Element: Sendable, Result: Sendable>(
    _ elements: [Element], _ transform: @Sendable (Element) -> Result
) -> [Result] {
    concurrentMap(elements, keeping: ()) { element, _ in transform(element) }
}

/// Applies a function to every element, with a state that passes from one element to the next.
///
/// - Parameter state: The initial state of every part of the elements. Neighbours are mostly in one part, and in order.
package func concurrentMap<Element: Sendable, State: Sendable, Result: Sendable>(
    _ elements: [Element], keeping state: State, _ transform: @Sendable (Element, inout State) -> Result
) -> [Result] {
    /// A part of this size takes much longer than the start of its thread.
    let length = 1024
    return Array(unsafeUninitializedCapacity: elements.count) { results, count in
        // Every part writes its own elements of the results, and no thread reads them before all are done.
        nonisolated(unsafe) let results = results
        DispatchQueue.concurrentPerform(iterations: (elements.count + length - 1) / length) { part in
            var state = state
            for index in (part * length)..<min((part + 1) * length, elements.count) {
                results.initializeElement(at: index, to: transform(elements[index], &state))
            }
        }
        count = elements.count
    }
}
