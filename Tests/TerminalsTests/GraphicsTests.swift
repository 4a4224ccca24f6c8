import Terminals
import Testing

@Suite struct GraphicsQueryTests {
    private func query(_ answers: String...) -> GraphicsQuery {
        var query = GraphicsQuery()
        for answer in answers { query.add(Array(answer.utf8)) }
        return query
    }

    @Test func `a terminal that checks kitty's picture has its protocol`() {
        let query = query("\u{1b}_Gi=31;OK\u{1b}\\", "\u{1b}[?62;4;22c")
        #expect(query.isAnswered)
        #expect(query.graphics == .kitty)
    }

    @Test func `attribute 4 of the device means sixels`() {
        #expect(query("\u{1b}[?62;4;22c").graphics == .sixel)
        #expect(query("\u{1b}[?4c").graphics == .sixel)
        #expect(query("typed", "\u{1b}[?6", "3;1;4c").graphics == .sixel)
    }

    @Test(arguments: [
        "\u{1b}[?62;22c", "\u{1b}[?6c", "\u{1b}[?64;14;41c", "\u{1b}_Gi=31;EINVAL:no\u{1b}\\\u{1b}[?1;2c",
    ])
    func `other terminals show no pictures`(answer: String) {
        #expect(query(answer).isAnswered)
        #expect(query(answer).graphics == nil)
    }

    @Test(arguments: ["", "\u{1b}[?62;4", "62;4c", "\u{1b}_Gi=31;O", "\u{1b}[?62;4x"])
    func `an answer has an end`(part: String) {
        #expect(!query(part).isAnswered)
        #expect(query(part).graphics == nil)
    }

    @Test(arguments: [[:], ["TERM": "dumb"], ["TERM": "linux"]])
    func `terminals that would print the question are not asked`(environment: [String: String]) {
        #expect(!GraphicsQuery.isWorthwhile(environment))
        #expect(GraphicsQuery.isWorthwhile(["TERM": "xterm-kitty"]))
    }
}

@Suite struct TerminalPictureTests {
    @Test func `a small PNG is one sequence of kitty's`() {
        #expect(
            TerminalPicture.kitty(png: [1, 2, 3], columns: nil) == "\u{1b}_Ga=T,f=100,q=2,m=0;AQID\u{1b}\\")
        #expect(
            TerminalPicture.kitty(png: [1, 2, 3], columns: 80) == "\u{1b}_Ga=T,f=100,q=2,c=80,m=0;AQID\u{1b}\\")
    }

    @Test func `a large one is sent in parts of 4096 characters`() {
        let text = TerminalPicture.kitty(png: Array(repeating: 0, count: 7000), columns: nil)
        let parts = text.split(separator: "\u{1b}\\").map { $0.split(separator: ";", maxSplits: 1) }
        #expect(parts.map { String($0[0]) } == ["\u{1b}_Ga=T,f=100,q=2,m=1", "\u{1b}_Gq=2,m=1", "\u{1b}_Gq=2,m=0"])
        #expect(parts.map { $0[1].count } == [4096, 4096, 1144])
    }

    @Test func `sixels have a character for six rows, and count repetitions`() throws {
        // Eight columns of black above one row of white.
        let black = Array(repeating: UInt8(0), count: 8 * 6 * 3)
        let white = Array(repeating: UInt8(255), count: 8 * 3)
        let picture = try #require(Pixmap(width: 8, height: 7, samples: black + white))
        #expect(
            TerminalPicture.sixel(picture)
                == "\u{1b}Pq\"1;1;8;7#0;2;0;0;0#1;2;100;100;100#0!8~-#1!8@-\u{1b}\\")
    }

    @Test func `colours that sixels lack are mixed`() throws {
        let grey = try #require(Pixmap(width: 4, height: 4, samples: Array(repeating: 100, count: 4 * 4 * 3)))
        let colors = TerminalPicture.sixel(grey).split(separator: "#").count
        #expect(colors > 4)
    }
}

@Suite struct SixelColorTests {
    /// The colours that a sequence of sixels defines, in percent.
    private func colors(of text: String) -> [[Int]] {
        text.split(separator: "#").compactMap { part in
            let numbers = part.split(separator: ";").map { Int($0) }
            return numbers.count == 5 && numbers[1] == 2 ? numbers[2...].compactMap { $0 } : nil
        }
    }

    @Test func `a picture with few colours keeps them`() throws {
        let samples: [UInt8] = [255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255]
        let picture = try #require(Pixmap(width: 2, height: 2, samples: samples))
        #expect(
            Set(colors(of: TerminalPicture.sixel(picture))) == [
                [100, 0, 0], [0, 100, 0], [0, 0, 100], [100, 100, 100],
            ])
    }

    @Test func `a picture with many colours gets 256, near to its own`() throws {
        var samples: [UInt8] = []
        for y in 0..<64 { for x in 0..<64 { samples += [UInt8(x * 4), UInt8(y * 4), UInt8((x + y) * 2)] } }
        let picture = try #require(Pixmap(width: 64, height: 64, samples: samples))
        let colors = colors(of: TerminalPicture.sixel(picture))
        #expect(colors.count == 256)
        // Blue is the mean of red and green in this picture.
        #expect(colors.allSatisfy { abs($0[2] * 2 - $0[0] - $0[1]) <= 8 })
    }
}

@Suite struct PixmapTests {
    private func file(_ header: String, _ samples: [UInt8]) -> [UInt8] { Array(header.utf8) + samples }

    @Test func `colours and greys of 8 and 16 bits are read`() throws {
        let colors = try #require(Pixmap(width: 2, height: 1, samples: [1, 2, 3, 250, 251, 252]))
        #expect(Pixmap(file: file("P6\n# made by a test\n2 1\n255\n", [1, 2, 3, 250, 251, 252])) == colors)
        #expect(
            Pixmap(file: file("P5 1 1 65535\n", [0x80, 0x00])) == Pixmap(width: 1, height: 1, samples: [128, 128, 128]))
        #expect(Pixmap(file: file("P5 1 1 15 ", [15])) == Pixmap(width: 1, height: 1, samples: [255, 255, 255]))
    }

    @Test(arguments: [
        "", "P6", "P6 2 1 255\n", "P3 1 1 255\n1 2 3", "P6 0 1 255\n", "P6 99999 99999 255\n", "P6 a b c\n",
    ])
    func `other files are refused`(text: String) {
        #expect(Pixmap(file: Array(text.utf8)) == nil)
    }

    @Test func `a picture that is larger than the window is made smaller by a whole number`() throws {
        let samples: [UInt8] = [0, 0, 0, 100, 100, 100, 200, 200, 200, 20, 20, 20]
        let picture = try #require(Pixmap(width: 4, height: 1, samples: samples))
        #expect(picture.fitted(width: 4, height: 10) == picture)
        #expect(
            picture.fitted(width: 3, height: 10)
                == Pixmap(width: 2, height: 1, samples: [50, 50, 50, 110, 110, 110]))
    }
}
