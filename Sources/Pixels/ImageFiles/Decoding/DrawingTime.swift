import Glibc
import Synchronization

/// A limit for the processor time in which libvips draws a picture.
///
/// The size of an SVG or a PDF does not tell how long drawing takes, and libvips cannot be interrupted while it draws.
/// Therefore the time of the drawing thread is measured. That thread stops itself after the band in which the time ran out. If
/// a drawing never finishes a band, another thread detects it by ``overrun``, and ends the process.
///
/// The limit is processor time, not wall-clock time, so that a picture does not count as slow on a busy machine.
package final class DrawingTime: Sendable {
    /// One drawing of a picture, from its header to its last row. If the same picture is drawn again, it has the whole time
    /// again.
    package final class Drawing: Sendable {
        /// The picture's name for messages.
        let name: String
        let formatTitle: String
        /// The seconds of all calls that have returned.
        fileprivate let counted = Mutex(0.0)

        /// Returns nil for pictures that are stored as pixels.
        package init?(_ file: InputFile, _ format: any ImageFormat) {
            guard format.isDrawn else { return nil }
            (name, formatTitle) = (file.path, format.title)
        }
    }

    /// The processor time of one thread, in seconds.
    package typealias Clock = @Sendable () -> Double

    /// A call that has not returned yet.
    private struct Call {
        let drawing: Drawing
        let clock: Clock
        /// The clock's time at its beginning.
        let start: Double

        var seconds: Double { drawing.counted.withLock { $0 } + clock() - start }
    }

    /// The environment variable for another limit, in seconds.
    static let variable = "PENUMBRA_DRAWING_SECONDS"

    /// The limit for all pictures that this process draws: a minute, unless the variable sets another.
    package static let shared = DrawingTime(
        most: getenv(variable).flatMap { Double(String(cString: $0)) }.flatMap { $0 > 0 ? $0 : nil } ?? 60)

    /// The limit in seconds. Longer drawings are stopped.
    let most: Double
    private let calls = Mutex<[Call]>([])

    package init(most: Double) { self.most = most }

    /// Measures the time of the calling thread in `body`, which draws a part of the picture.
    ///
    /// - Parameters:
    ///   - drawing: the drawing, which one thread at a time may draw; nil if the picture is stored as pixels, and nothing is
    ///     measured.
    ///   - clock: the calling thread's clock, unless a test passes another.
    /// - Throws: the errors of `body`, and an ``ImageFileError`` of the kind `limit` if the drawing has taken too long.
    package func counting<Result: ~Copyable>(
        _ drawing: Drawing?, clock: Clock? = nil,
        _ body: () throws(ImageFileError) -> Result
    ) throws(ImageFileError) -> Result {
        guard let drawing else { return try body() }
        let clock = clock ?? Self.callersClock()
        let call = Call(drawing: drawing, clock: clock, start: clock())
        calls.withLock { $0.append(call) }
        defer {
            calls.withLock { calls in
                let seconds = call.seconds
                drawing.counted.withLock { $0 = seconds }
                calls.removeAll { $0.drawing === drawing }
            }
        }
        let result = try body()
        if let slow = error(call) { throw slow }
        return result
    }

    /// The error of a picture that a thread is drawing for too long; nil if there is none.
    package var overrun: ImageFileError? { calls.withLock { $0.lazy.compactMap { self.error($0) }.first } }

    private func error(_ call: Call) -> ImageFileError? {
        guard call.seconds > most else { return nil }
        return ImageFileError(
            path: call.drawing.name, .slowDrawing(format: call.drawing.formatTitle, seconds: wholeSeconds))
    }

    /// The limit in whole seconds, for messages.
    var wholeSeconds: Int { Int(most.rounded(.up)) }

    /// A clock of the calling thread's processor time, which other threads can read.
    private static func callersClock() -> Clock {
        var id = clockid_t()
        guard pthread_getcpuclockid(pthread_self(), &id) == 0 else { return { 0 } }
        return { [id] in
            var time = timespec()
            guard clock_gettime(id, &time) == 0 else { return 0 }
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
    }
}
