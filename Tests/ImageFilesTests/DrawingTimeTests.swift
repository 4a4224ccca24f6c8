import Synchronization
import Testing

import ImageFiles

/// The processor time of drawings is counted, whichever thread asks.
@Suite struct DrawingTimeTests {
    /// A clock that goes on when a test says so.
    private final class Hand: Sendable {
        private let seconds = Mutex(0.0)
        var clock: DrawingTime.Clock { { self.seconds.withLock { $0 } } }
        func move(_ by: Double) { seconds.withLock { $0 += by } }
    }

    private let time = DrawingTime(most: 60)
    private let hand = Hand()
    private let workspace: Workspace
    private let drawing: DrawingTime.Picture?

    init() throws {
        workspace = try Workspace()
        let path = try workspace.write(Array("<svg/>".utf8), to: "drawing.svg")
        drawing = DrawingTime.Picture(try InputFile(path: path), SVGFormat())
        try #require(drawing != nil)
    }

    private func draw(for seconds: Double) throws(ImageFileError) {
        try time.counting(drawing, clock: hand.clock) { hand.move(seconds) }
    }

    private var slow: ImageFileError {
        ImageFileError(path: workspace.path("drawing.svg"), .slowDrawing(format: "SVG", seconds: 60))
    }

    @Test func `bands of one picture count together`() throws {
        try draw(for: 30)
        try draw(for: 30)
        #expect(throws: slow) { try draw(for: 1) }
    }

    @Test func `another task begins at nothing`() throws {
        try draw(for: 60)
        time.reset()
        try draw(for: 60)
    }

    @Test func `a drawing that does not come back is seen by others, and one that has come back is not`() throws {
        #expect(time.overrun == nil)
        #expect(throws: slow) {
            try time.counting(drawing, clock: hand.clock) { () throws(ImageFileError) in
                #expect(time.overrun == nil)
                hand.move(61)
                #expect(time.overrun == slow)
            }
        }
        #expect(time.overrun == nil)
    }

    @Test func `what pixels of files take is not counted`() throws {
        let path = try workspace.write([0x89, 0x50, 0x4E, 0x47], to: "picture.png")
        #expect(DrawingTime.Picture(try InputFile(path: path), PNGFormat()) == nil)
        try time.counting(nil, clock: hand.clock) { () throws(ImageFileError) in
            hand.move(1000)
            #expect(time.overrun == nil)
        }
    }

    @Test func `the message says how long, and what to do`() {
        #expect(
            slow.description
                == "\(workspace.path("drawing.svg")): SVG that takes more than 60 s of processor time to draw; simplify it, or draw "
                + "it to a PNG first")
        #expect(slow.kind == .data)
    }
}
