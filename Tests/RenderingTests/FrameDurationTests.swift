import Foundation
import JobModel
import Testing

/// The times of frames, exactly and in the steps of formats.
struct FrameDurationTests {
    @Test func `times are in lowest terms, and of a rate they are exact`() {
        #expect(FrameDuration(4, 100) == FrameDuration(1, 25))
        #expect(FrameDuration(rate: 30) == FrameDuration(1, 30))
        #expect(FrameDuration(rate: 29.97) == FrameDuration(100, 2997))
        #expect(FrameDuration(rate: 23.976) == FrameDuration(125, 2997))
        #expect(FrameDuration(rate: 30, hold: 0.5) == FrameDuration(8, 15))
        #expect(FrameDuration(rate: 0.1) == FrameDuration(10, 1))
    }

    @Test func `times that no file holds become the nearest one`() {
        #expect(FrameDuration(-3, 7) == FrameDuration(0, 1))
        #expect(FrameDuration(.max, 1) == FrameDuration(65_535, 1))
        #expect(FrameDuration(1, .max) == FrameDuration(0, 1))
        #expect(FrameDuration(.max / 2, .max) == FrameDuration(1, 2))
        #expect(FrameDuration(rate: .infinity, hold: .infinity) == FrameDuration(65_535, 1))
    }

    /// The ends of the frames, in seconds.
    private func ends(_ times: [Double]) -> [Double] {
        var end = 0.0
        return times.map {
            end += $0
            return end
        }
    }

    @Test(arguments: [
        (24.0, 1), (25, 1), (29.97, 1), (30, 1), (50, 1), (60, 1), (90, 1), (24, 10), (25, 10), (29.97, 10), (30, 10),
        (50, 10),
    ])
    func `rounding errors of many frames do not add up`(fps: Double, unit: Int) {
        let durations = Array(repeating: FrameDuration(rate: fps), count: 3000)
        let delays = FrameDuration.delays(of: durations, unit: unit)
        #expect(delays.allSatisfy { $0 % unit == 0 && $0 > FrameDuration.slowedMilliseconds })
        let exact = ends(durations.map(\.seconds))
        #expect(zip(ends(delays.map { Double($0) / 1000 }), exact).allSatisfy { abs($0 - $1) <= Double(unit) / 1999 })
    }

    @Test func `each end is rounded`() {
        func delays(_ fps: Double, _ unit: Int) -> [Int] {
            FrameDuration.delays(of: Array(repeating: FrameDuration(rate: fps), count: 7), unit: unit)
        }
        #expect(delays(30, 10) == [30, 40, 30, 30, 40, 30, 30])
        #expect(delays(24, 10) == [40, 40, 50, 40, 40, 40, 40])
        #expect(delays(25, 10) == [40, 40, 40, 40, 40, 40, 40])
        #expect(delays(29.97, 10) == [30, 40, 30, 30, 40, 30, 30])
        #expect(delays(50, 10) == [20, 20, 20, 20, 20, 20, 20])
        #expect(delays(30, 1) == [33, 34, 33, 33, 34, 33, 33])
        #expect(delays(60, 1) == [17, 16, 17, 17, 16, 17, 17])
    }

    @Test func `above 50 frames a second a GIF is slower, since players show a shorter time for a tenth of a second`() {
        let durations = Array(repeating: FrameDuration(rate: 60), count: 60)
        #expect(FrameDuration.delays(of: durations, unit: 10) == Array(repeating: 20, count: 60))
        // Later frames do not hurry to make up for more than a hundredth of a second.
        let further = durations + [FrameDuration(1, 1), FrameDuration(1, 2)]
        #expect(FrameDuration.delays(of: further, unit: 10).suffix(2) == [990, 500])
        #expect(FrameDuration.delays(of: [FrameDuration(rate: 95)], unit: 1) == [11])
    }

    @Test func `times that players slow down stay as they are, and take nothing from others`() {
        let durations = [FrameDuration(1, 100), FrameDuration(0, 1), FrameDuration(1, 125), FrameDuration(1, 25)]
        #expect(FrameDuration.delays(of: durations, unit: 10) == [10, 0, 10, 40])
        #expect(FrameDuration.delays(of: durations, unit: 1) == [10, 0, 8, 40])
        let fast = Array(repeating: FrameDuration(rate: 100), count: 9)
        #expect(FrameDuration.delays(of: fast, unit: 10) == Array(repeating: 10, count: 9))
    }

    @Test func `whole steps are kept as they are`() {
        let times = [20, 500, 30, 100, 65_535_000, 20]
        for unit in [1, 10] {
            #expect(FrameDuration.delays(of: times.map(FrameDuration.init(milliseconds:)), unit: unit) == times)
        }
        #expect(FrameDuration.delays(of: [], unit: 10) == [])
    }

    @Test func `ticks are exact while a billion a second suffice, and near to it otherwise`() {
        let exact = FrameDuration.Ticks([FrameDuration(1, 30), FrameDuration(1, 24), FrameDuration(1001, 30000)])
        #expect(exact.rate == 30_000)
        #expect(exact.counts == [1000, 1250, 1001])
        #expect(exact.frameRate == 30_000)
        #expect(FrameDuration.Ticks([]).frameRate == nil)
        let primes = [65_521, 65_519, 65_497].map { FrameDuration(1, $0) }
        let near = FrameDuration.Ticks(primes)
        #expect(near.rate == FrameDuration.finest)
        #expect(near.counts == primes.map { Int(($0.seconds * 1e9).rounded()) })
    }

    @Test func `a message with a time of no denominator is refused`() throws {
        let decoder = JSONDecoder()
        let text = Data(#"{"numerator": 2, "denominator": 60}"#.utf8)
        #expect(try decoder.decode(FrameDuration.self, from: text) == FrameDuration(1, 30))
        #expect(throws: DecodingError.self) {
            try decoder.decode(FrameDuration.self, from: Data(#"{"numerator": 1, "denominator": 0}"#.utf8))
        }
    }
}
