import Dispatch
import Synchronization

/// Applies a function to every element, on as many threads as there are cores, and gives the results in order.
package func concurrentMap<Element: Sendable, Result: Sendable>(
    _ elements: [Element], _ transform: @Sendable (Element) -> Result
) -> [Result] {
    /// Work for a thread that takes long beside the taking of a lock.
    let length = 1024
    let count = (elements.count + length - 1) / length
    guard count > 1 else { return elements.map(transform) }
    let parts = Mutex([[Result]](repeating: [], count: count))
    DispatchQueue.concurrentPerform(iterations: count) { part in
        let results = elements[(part * length)...].prefix(length).map(transform)
        parts.withLock { $0[part] = results }
    }
    return parts.withLock { Array($0.joined()) }
}
