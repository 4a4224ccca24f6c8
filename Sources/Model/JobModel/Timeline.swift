import Catalogs

/// The frames of an animation at a constant rate, including one at its beginning and one at its end.
///
/// The animation runs from its beginning to its end. It may then run backwards to its beginning.
public struct Timeline: Hashable, Sendable {
    /// The seconds from the beginning to the end, above 0.
    public let duration: Double
    /// The frame rate in frames a second, above 0.
    public let fps: Double
    /// The number of repetitions; 0 repeats without end.
    public let repetitions: Int
    /// Whether it runs backwards to its beginning after its end.
    public let isThereAndBack: Bool
    public let hold: Hold

    /// For how many seconds two frames stay longer than the others.
    public struct Hold: Hashable, Sendable {
        /// The first frame.
        public let first: Double
        /// The frame at the end.
        public let last: Double

        public init(first: Double = 0, last: Double = 0) {
            self.first = first
            self.last = last
        }
    }

    public init(
        duration: Double, fps: Double, repetitions: Int = 0, isThereAndBack: Bool = false, hold: Hold = Hold()
    ) {
        self.duration = duration
        self.fps = fps
        self.repetitions = repetitions
        self.isThereAndBack = isThereAndBack
        self.hold = hold
    }

    /// The number of the frame at the end: `duration` times `fps`, rounded, at least 1.
    public var turn: Int { max(1, Int((duration * fps).rounded())) }

    /// The number of frames, at least 2. An animation without end leaves out the first frame at the end of its way back,
    /// because the next repetition begins with it.
    public var count: Int { isThereAndBack ? 2 * turn + (repetitions == 0 ? 0 : 1) : turn + 1 }

    /// Whether a frame is on the way back.
    public func isOnWayBack(_ frame: Int) -> Bool { frame > turn }

    /// The time of a frame, in seconds from the beginning. It lies between 0 and `duration`, except that a frame that is
    /// held has the time in the middle of its hold: before 0, or behind `duration`. A frame on the way back has the time
    /// of its twin on the way there.
    ///
    /// - Parameter frame: the frame's number, from 0.
    public func time(of frame: Int) -> Double {
        switch isOnWayBack(frame) ? 2 * turn - frame : frame {
        case 0: -hold.first / 2
        case turn: duration + hold.last / 2
        case let place: min(Double(place) / fps, duration)
        }
    }

    /// The state that an animation shows at a time of ``time(of:)``, or near it: seconds from the beginning, at most
    /// `duration`. What lies before 0 is the beginning. Behind `duration` and the hold, the way back follows.
    public func moment(at time: Double) -> Double {
        guard time > duration else { return time }
        let returned = time - duration - hold.last
        return isThereAndBack && returned > 0 ? duration - returned : duration
    }

    /// The duration of each frame.
    public var durations: [FrameDuration] {
        let usual = FrameDuration(rate: fps)
        var durations = Array(repeating: usual, count: count)
        durations[0] = FrameDuration(rate: fps, hold: hold.first)
        durations[turn] = FrameDuration(rate: fps, hold: hold.last)
        return durations
    }
}

extension Timeline {
    /// The parameters that all animations of an output share.
    public static let sharedParameters = ["fps", "repeat", FilterInvocation.frame, "hold", "there_and_back"]

    /// The timeline of animations that run at the same time. The last one has the shared values.
    ///
    /// Nil if there is none, or if a duration or rate is missing.
    public init?(of animations: [FilterInvocation]) {
        guard let shared = animations.last?.values, let fps = shared["fps"]?.number else { return nil }
        let ends = animations.compactMap { animation in
            animation.values["duration"]?.number.map { (animation.values["delay"]?.number ?? 0) + $0 }
        }
        guard let duration = ends.max() else { return nil }
        var hold = Hold()
        if case .numbers(let held)? = shared["hold"] { hold = Hold(first: held["first"] ?? 0, last: held["last"] ?? 0) }
        self.init(
            duration: duration, fps: fps, repetitions: shared["repeat"]?.number.map { Int($0) } ?? 0,
            isThereAndBack: shared["there_and_back"] == .boolean(true), hold: hold)
    }
}
