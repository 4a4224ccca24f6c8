import HTTPService
import Testing

@Suite struct RateTests {
    @Test func `a bucket allows its capacity at once and then its rate`() {
        var bucket = TokenBucket(capacity: 10, per: .seconds(1), at: .zero)
        for _ in 0..<10 { #expect(bucket.take(at: .zero) == nil) }
        #expect(bucket.take(at: .zero) == .milliseconds(100))
        #expect(bucket.take(at: .milliseconds(100)) == nil)
        #expect(bucket.take(at: .milliseconds(100)) != nil)
        for _ in 0..<10 { #expect(bucket.take(at: .seconds(100)) == nil) }
        #expect(bucket.take(at: .seconds(100)) != nil)
    }

    @Test func `a clock that stands or goes back gives nothing`() {
        var bucket = TokenBucket(capacity: 1, per: .seconds(1), at: .seconds(5))
        #expect(bucket.take(at: .seconds(5)) == nil)
        #expect(bucket.take(at: .seconds(4)) != nil)
        #expect(bucket.take(at: .seconds(6)) == nil)
    }

    @Test func `each key has a bucket of its own`() {
        var buckets = TokenBuckets<String>(capacity: 1, per: .seconds(60))
        #expect(buckets.take("a", at: .zero) == nil)
        #expect(buckets.take("b", at: .zero) == nil)
        #expect(buckets.take("a", at: .zero) == .seconds(60))
    }

    @Test func `the number of keys is bounded, and those at rest make room`() {
        var buckets = TokenBuckets<Int>(capacity: 2, per: .seconds(1), most: 3)
        for key in 0..<3 { #expect(buckets.take(key, at: .zero) == nil) }
        // All others share one bucket.
        #expect(buckets.take(10, at: .zero) == nil)
        #expect(buckets.take(11, at: .zero) == nil)
        #expect(buckets.take(12, at: .zero) != nil)
        #expect(buckets.count == 3)
        #expect(buckets.take(13, at: .seconds(2)) == nil)
        #expect(buckets.count == 1)
    }

    @Test func `Retry-After is a whole number of seconds`() {
        #expect(Duration.milliseconds(1).wholeSecondsToWait == 1)
        #expect(Duration.seconds(2).wholeSecondsToWait == 2)
        #expect(Duration.milliseconds(2001).wholeSecondsToWait == 3)
        #expect(Duration.zero.wholeSecondsToWait == 1)
    }
}
