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
    /// A picture that is drawn.
    package struct Picture: Hashable {
        let path: String
        let formatTitle: String

        /// Nil for pictures that are stored as pixels.
        package init?(_ file: InputFile, _ format: any ImageFormat) {
            guard format.isDrawn else { return nil }
            (path, formatTitle) = (file.path, format.title)
        }
    }

    /// The processor time of one thread, in seconds.
    package typealias Clock = @Sendable () -> Double

    private struct Drawing {
        /// The seconds of earlier calls for the same picture.
        var before = 0.0
        /// While a thread draws: its clock, and the time at the start.
        var running: (clock: Clock, start: Double)?

        var seconds: Double { before + (running.map { $0.clock() - $0.start } ?? 0) }
    }

    /// The limit in seconds, unless `PENUMBRA_DRAWING_SECONDS` sets another.
    static let usual = 60.0

    /// Of all pictures that this process draws.
    package static let shared = DrawingTime(
        most: getenv("PENUMBRA_DRAWING_SECONDS").flatMap { Double(String(cString: $0)) }.flatMap { $0 > 0 ? $0 : nil }
            ?? usual)

    /// Longer drawings are given up, in seconds.
    private let most: Double
    private let drawings = Mutex<[Picture: Drawing]>([:])

    package init(most: Double) { self.most = most }

    /// Forgets all pictures: another task begins.
    package func reset() { drawings.withLock { $0 = [:] } }

    /// Counts the time that the calling thread takes for `body`, which draws some of the picture.
    ///
    /// - Parameters:
    ///   - picture: nil if the picture is stored as pixels; then nothing is counted.
    ///   - clock: the calling thread's, unless a test gives another.
    /// - Throws: what `body` throws, and an ``ImageFileError`` of the kind `data` if the picture has taken too long.
    package func counting<Result: ~Copyable>(
        _ picture: Picture?, clock: Clock? = nil,
        _ body: () throws(ImageFileError) -> Result
    ) throws(ImageFileError) -> Result {
        guard let picture else { return try body() }
        let clock = clock ?? Self.callersClock()
        drawings.withLock { $0[picture, default: Drawing()].running = (clock, clock()) }
        defer {
            drawings.withLock { drawings in
                drawings[picture] = Drawing(before: drawings[picture]?.seconds ?? 0)
            }
        }
        let result = try body()
        if let slow = drawings.withLock({ error($0[picture], picture) }) { throw slow }
        return result
    }

    /// The error of a picture that a thread is drawing, and has drawn for too long; nil if there is none.
    package var overrun: ImageFileError? {
        drawings.withLock { drawings in
            drawings.lazy.filter { $0.value.running != nil }.compactMap { self.error($0.value, $0.key) }.first
        }
    }

    private func error(_ drawing: Drawing?, _ picture: Picture) -> ImageFileError? {
        guard let drawing, drawing.seconds > most else { return nil }
        return ImageFileError(
            path: picture.path, .slowDrawing(format: picture.formatTitle, seconds: Int(most.rounded(.up))))
    }

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
