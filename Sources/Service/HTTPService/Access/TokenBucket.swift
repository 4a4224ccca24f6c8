/// A limit of a rate that allows short bursts: as many at once as in a whole period.
package struct TokenBucket: Hashable, Sendable {
    let capacity: Int
    /// The time in which an empty bucket fills up.
    let period: Duration
    private var used: Double = 0
    private var last: Duration

    package init(capacity: Int, per period: Duration, at now: Duration) {
        self.capacity = max(1, capacity)
        self.period = period
        last = now
    }

    /// Takes one. If there is none, the answer is the time until there is one.
    package mutating func take(at now: Duration) -> Duration? {
        refill(at: now)
        if used + 1 <= Double(capacity) + 1e-9 {
            used += 1
            return nil
        }
        return period * ((used + 1 - Double(capacity)) / Double(capacity))
    }

    /// Whether it is as a new one.
    mutating func isFull(at now: Duration) -> Bool {
        refill(at: now)
        return used == 0
    }

    private mutating func refill(at now: Duration) {
        guard now > last else { return }
        used = max(0, used - (now - last) / period * Double(capacity))
        last = now
    }
}

/// A bucket for each key. The number of keys is bounded: beyond it all new keys share one bucket.
package struct TokenBuckets<Key: Hashable & Sendable>: Sendable {
    let capacity: Int
    let period: Duration
    let most: Int
    private var buckets: [Key: TokenBucket] = [:]
    private var shared: TokenBucket?

    package init(capacity: Int, per period: Duration, most: Int = 4096) {
        self.capacity = capacity
        self.period = period
        self.most = most
    }

    /// Takes one of the key's. If there is none, the answer is the time until there is one.
    package mutating func take(_ key: Key, at now: Duration) -> Duration? {
        if buckets[key] == nil, buckets.count >= most {
            buckets = buckets.filter { entry in
                var bucket = entry.value
                return !bucket.isFull(at: now)
            }
        }
        let isShared = buckets[key] == nil && buckets.count >= most
        var bucket =
            (isShared ? shared : buckets[key]) ?? TokenBucket(capacity: capacity, per: period, at: now)
        let wait = bucket.take(at: now)
        if isShared { shared = bucket } else { buckets[key] = bucket }
        return wait
    }

    package var count: Int { buckets.count }
}

extension Duration {
    /// For `Retry-After`: at least one, rounded up.
    package var wholeSecondsToWait: Int {
        let (seconds, attoseconds) = components
        return max(1, Int(seconds) + (attoseconds > 0 ? 1 : 0))
    }
}
