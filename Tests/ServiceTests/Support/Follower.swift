import Foundation
import ServiceClient

extension APIClient {
    /// The events that a follower hears.
    ///
    /// The client's calls block, so they have a thread of their own: tests share as many threads as there are cores. The thread
    /// ends with the first event after the last one that is wanted, or some time after the service.
    func events(_ path: String, after lastEventID: String? = nil) -> AsyncThrowingStream<ServerEvent, any Error> {
        let client = self
        return AsyncThrowingStream { events in
            Thread.detachNewThread {
                do throws(ServiceError) {
                    try client.follow(path, after: lastEventID) { event in
                        if case .terminated = events.yield(event) { .stop } else { .goOn }
                    }
                    events.finish()
                } catch {
                    events.finish(throwing: error)
                }
            }
        }
    }
}
