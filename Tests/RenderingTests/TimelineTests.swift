import Catalogs
import JobModel
import Testing

/// When frames are shown, and for how long.
struct TimelineTests {
    private func times(_ timeline: Timeline) -> [Double] { (0..<timeline.count).map(timeline.time) }

    private func moments(_ timeline: Timeline) -> [Double] { times(timeline).map(timeline.moment) }

    @Test func `both ends are shown, and frames between at the rate that was asked for`() {
        let timeline = Timeline(duration: 0.2, fps: 30)
        #expect(timeline.count == 7)
        #expect(times(timeline) == (0..<6).map { Double($0) / 30 } + [0.2])
        #expect(moments(timeline) == times(timeline))
    }

    @Test(arguments: [(0.25, 30.0), (1, 24), (0.33, 60), (10, 29.97), (0.001, 1), (3, 0.1)])
    func `no frame comes before another one, and the last shows the end`(duration: Double, fps: Double) {
        let times = times(Timeline(duration: duration, fps: fps))
        #expect(times.first == 0)
        #expect(times.last == duration)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(times.count >= 2)
    }

    @Test func `each frame lasts as long as its rate says`() {
        #expect(Timeline(duration: 0.2, fps: 30).durations == Array(repeating: FrameDuration(1, 30), count: 7))
    }

    @Test(arguments: [(0.25, 30.0), (1, 24), (0.33, 60), (10, 29.97), (0.001, 1), (3, 0.1)])
    func `the way back shows the frames of the way there, in the other order`(duration: Double, fps: Double) {
        let there = moments(Timeline(duration: duration, fps: fps))
        let once = Timeline(duration: duration, fps: fps, repetitions: 1, isThereAndBack: true)
        #expect(moments(once) == there + there.dropLast().reversed())
        // The next repetition begins with the first frame.
        let endless = Timeline(duration: duration, fps: fps, isThereAndBack: true)
        #expect(moments(endless) == moments(once).dropLast())
        #expect((0..<once.count).map(once.isOnWayBack) == there.map { _ in false } + there.dropLast().map { _ in true })
    }

    @Test func `a held frame is one frame that stays longer`() {
        let hold = Timeline.Hold(first: 0.5, last: 1.25)
        let there = Timeline(duration: 0.2, fps: 20, hold: hold)
        #expect(there.durations == [550, 50, 50, 50, 1300].map(FrameDuration.init(milliseconds:)))
        let back = Timeline(duration: 0.2, fps: 20, repetitions: 1, isThereAndBack: true, hold: hold)
        #expect(
            back.durations == [550, 50, 50, 50, 1300, 50, 50, 50, 50].map(FrameDuration.init(milliseconds:)))
        #expect(
            moments(back).map { max($0, 0) }
                == moments(Timeline(duration: 0.2, fps: 20, repetitions: 1, isThereAndBack: true)))
    }

    @Test func `around a held frame nothing moves for as long as it is held`() {
        let timeline = Timeline(
            duration: 2, fps: 10, isThereAndBack: true, hold: Timeline.Hold(first: 0.5, last: 0.25))
        let (first, last) = (timeline.time(of: 0), timeline.time(of: timeline.turn))
        #expect([-0.25, -0.1, 0, 0.2].map { timeline.moment(at: first + $0) }.allSatisfy { $0 <= 0 })
        #expect(timeline.moment(at: first + 0.5) == 0.25)
        #expect([-0.125, 0, 0.125].map { timeline.moment(at: last + $0) } == [2, 2, 2])
        #expect(timeline.moment(at: last - 0.25) == 1.875)
        #expect(timeline.moment(at: last + 0.25) == 1.875)
    }

    @Test func `an end without a way back stays`() {
        let timeline = Timeline(duration: 2, fps: 10, hold: Timeline.Hold(last: 1))
        #expect([2, 2.5, 3, 9].map(timeline.moment) == [2, 2, 2, 2])
    }

    // MARK: Several animations

    private func animation(_ values: [String: ParameterValue]) -> FilterInvocation {
        FilterInvocation(filter: "move", values: values)
    }

    @Test func `several animations last until the last one has ended`() {
        let first = animation(["duration": .number(1), "fps": .number(10)])
        let second = animation([
            "duration": .number(0.5), "delay": .number(0.75), "fps": .number(10), "repeat": .integer(2),
            "there_and_back": .boolean(true), "hold": .numbers(["first": 0, "last": 3]),
        ])
        #expect(
            Timeline(of: [first, second])
                == Timeline(
                    duration: 1.25, fps: 10, repetitions: 2, isThereAndBack: true, hold: Timeline.Hold(last: 3)))
        #expect(Timeline(of: [first]) == Timeline(duration: 1, fps: 10))
    }

    @Test func `without an animation, a duration or a rate there is no timeline`() {
        #expect(Timeline(of: []) == nil)
        #expect(Timeline(of: [animation(["duration": .number(1)])]) == nil)
        #expect(Timeline(of: [animation(["fps": .number(1)])]) == nil)
    }
}
