import Glibc

/// A lock, and a signal that threads wait for while they hold it. (`NSCondition` does the same, but it is in a library that takes a
/// worker several milliseconds to load.)
final class ThreadCondition: @unchecked Sendable {
    // Sendable: the system's calls may come from any thread. The pointers do not change, and live as long as this object.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let signals = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        signals.initialize(to: pthread_cond_t())
        pthread_cond_init(signals, nil)
    }

    deinit {
        pthread_cond_destroy(signals)
        signals.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Calls the body while no other thread holds the lock.
    func withLock<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }

    /// Lets others have the lock until a signal. Only within ``withLock(_:)``. It may return without a signal, so the caller checks
    /// what it waits for.
    func wait() { pthread_cond_wait(signals, mutex) }

    /// Wakes all threads that wait. Only within ``withLock(_:)``.
    func broadcast() { pthread_cond_broadcast(signals) }
}
