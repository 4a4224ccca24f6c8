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
    private let drawing: DrawingTime.Drawing
    /// Of the same picture.
    private let other: DrawingTime.Drawing

    init() throws {
        workspace = try Workspace()
        let path = try workspace.write(Array("<svg/>".utf8), to: "drawing.svg")
        drawing = try #require(DrawingTime.Drawing(try InputFile(path: path), SVGFormat()))
        other = try #require(DrawingTime.Drawing(try InputFile(path: path), SVGFormat()))
    }

    private func draw(_ drawing: DrawingTime.Drawing, for seconds: Double) throws(ImageFileError) {
        try time.counting(drawing, clock: hand.clock) { hand.move(seconds) }
    }

    private var slow: ImageFileError {
        ImageFileError(path: workspace.path("drawing.svg"), .slowDrawing(format: "SVG", seconds: 60))
    }

    @Test func `bands of one drawing count together`() throws {
        try draw(drawing, for: 30)
        try draw(drawing, for: 30)
        #expect(throws: slow) { try draw(drawing, for: 1) }
    }

    @Test func `a picture that is drawn again has all of the time again`() throws {
        try draw(drawing, for: 60)
        try draw(other, for: 60)
        #expect(throws: slow) { try draw(other, for: 1) }
    }

    @Test func `a picture is called as whoever opens it says`() throws {
        let file = try InputFile(path: workspace.path("drawing.svg"), name: "logo.svg, the picture of 'overlay'")
        let named = try #require(DrawingTime.Drawing(file, SVGFormat()))
        #expect(
            throws: ImageFileError(path: "logo.svg, the picture of 'overlay'", .slowDrawing(format: "SVG", seconds: 60))
        ) {
            try draw(named, for: 61)
        }
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
        #expect(DrawingTime.Drawing(try InputFile(path: path), PNGFormat()) == nil)
        try time.counting(nil, clock: hand.clock) { () throws(ImageFileError) in
            hand.move(1000)
            #expect(time.overrun == nil)
        }
    }

    @Test func `the message says how long, and what to do`() {
        #expect(
            slow.description
                == "\(workspace.path("drawing.svg")): SVG that takes more than 60 s of processor time to draw; simplify it, draw "
                + "it to a PNG first, or set PENUMBRA_DRAWING_SECONDS to more seconds")
    }

    @Test func `another night may have another limit`() {
        #expect(slow.kind == .limit)
    }
}
