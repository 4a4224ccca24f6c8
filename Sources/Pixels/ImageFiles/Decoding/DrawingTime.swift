import Glibc
import Synchronization

/// The processor time that libvips takes to draw a picture.
///
/// The size of an SVG or a PDF says nothing about the time that drawing it takes, and libvips cannot be interrupted while it
/// draws. So the time of the drawing thread is measured. That thread itself stops after the band in which the time ran out.
/// A drawing that does not come to the end of a band is found by another thread, which asks for ``overrun`` and then gives the
/// process up.
///
/// Processor time, and not time on the wall: on a busy machine a picture must not count as slow because others are busy.
package final class DrawingTime: Sendable {
    /// One drawing of a picture, from its header to its last row. Drawn again, the same picture has all of the time again.
    package final class Drawing: Sendable {
        /// As messages name the picture.
        let name: String
        let formatTitle: String
        /// The seconds of the calls that have returned.
        fileprivate let counted = Mutex(0.0)

        /// Nil for pictures that are stored as pixels.
        package init?(_ file: InputFile, _ format: any ImageFormat) {
            guard format.isDrawn else { return nil }
            (name, formatTitle) = (file.path, format.title)
        }
    }

    /// The processor time of one thread, in seconds.
    package typealias Clock = @Sendable () -> Double

    /// A call that has not returned.
    private struct Call {
        let drawing: Drawing
        let clock: Clock
        /// The clock's time when it began.
        let start: Double

        var seconds: Double { drawing.counted.withLock { $0 } + clock() - start }
    }

    /// The variable that sets another limit than the usual one, in seconds.
    static let variable = "PENUMBRA_DRAWING_SECONDS"

    /// Of all pictures that this process draws. A minute, unless the variable says otherwise.
    package static let shared = DrawingTime(
        most: getenv(variable).flatMap { Double(String(cString: $0)) }.flatMap { $0 > 0 ? $0 : nil } ?? 60)

    /// Longer drawings are given up, in seconds.
    let most: Double
    private let calls = Mutex<[Call]>([])

    package init(most: Double) { self.most = most }

    /// Counts the time that the calling thread takes for `body`, which draws some of the picture.
    ///
    /// - Parameters:
    ///   - drawing: nil if the picture is stored as pixels; then nothing is counted. One thread at a time draws it.
    ///   - clock: the calling thread's, unless a test gives another.
    /// - Throws: what `body` throws, and an ``ImageFileError`` of the kind `limit` if the drawing has taken too long.
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

    /// The error of a picture that a thread is drawing, and has drawn for too long; nil if there is none.
    package var overrun: ImageFileError? { calls.withLock { $0.lazy.compactMap { self.error($0) }.first } }

    private func error(_ call: Call) -> ImageFileError? {
        guard call.seconds > most else { return nil }
        return ImageFileError(
            path: call.drawing.name, .slowDrawing(format: call.drawing.formatTitle, seconds: wholeSeconds))
    }

    /// The limit, as messages state it.
    var wholeSeconds: Int { Int(most.rounded(.up)) }

    /// The processor time of the thread that calls, for other threads to read.
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
