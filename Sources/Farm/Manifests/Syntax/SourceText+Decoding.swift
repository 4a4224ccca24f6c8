extension SourceText {
    /// Decodes a file's bytes, and reports what must not be in a text: bytes that are no UTF-8, a byte order mark,
    /// control characters, and what YAML, but no editor, takes for a line break.
    ///
    /// The text is usable whatever was reported; only one that is no text at all, or too large, is left empty.
    package init(bytes: [UInt8], name: String, log: DiagnosticLog) {
        self.init(bytes: bytes, name: name, kind: .file, id: .file, log: log)
    }

    /// The text of a command line argument; `name` is the argument with its flag.
    package init(argument: String, name: String, index: Int, log: DiagnosticLog) {
        self.init(bytes: Array(argument.utf8), name: name, kind: .argument, id: .argument(index), log: log)
        guard lines.count > 1 else { return }
        let end = lines[0].upperBound
        log.error(.text(.lineBreakInArgument), at: span(end..<end, line: 1))
    }

    private init(bytes: [UInt8], name: String, kind: Kind, id: SourceID, log: DiagnosticLog) {
        if let problem = Self.refusal(of: bytes) {
            self.init(name: name, kind: kind, id: id, scalars: [])
            log.error(.text(problem), at: span(0..<0, line: 1))
            return
        }
        let decoded = Self.decode(bytes)
        self.init(name: name, kind: kind, id: id, scalars: decoded.scalars)
        if bytes.starts(with: Self.byteOrderMark) { log.error(.text(.byteOrderMark), at: span(0..<0, line: 1)) }
        reportReturns(log)
        reportCharacters(badBytes: decoded.badBytes, log: log)
    }

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Why bytes are not even looked at.
    private static func refusal(of bytes: [UInt8]) -> TextProblem? {
        if bytes.count > SyntaxLimits.bytes { return .tooLarge(bytes: bytes.count) }
        return bytes.contains(0) ? .notText : nil
    }

    /// The scalars of UTF-8 without a byte order mark, U+FFFD in the place of each malformed sequence, and where those
    /// are.
    private static func decode(_ bytes: [UInt8]) -> (scalars: [Unicode.Scalar], badBytes: [Int: UInt8]) {
        var scalars: [Unicode.Scalar] = []
        var badBytes: [Int: UInt8] = [:]
        var offset = bytes.starts(with: byteOrderMark) ? byteOrderMark.count : 0
        var parser = Unicode.UTF8.ForwardParser()
        var iterator = bytes[offset...].makeIterator()
        while true {
            switch parser.parseScalar(from: &iterator) {
            case .valid(let encoded):
                scalars.append(Unicode.UTF8.decode(encoded))
                offset += encoded.count
            case .error(let length):
                badBytes[scalars.count] = bytes[offset]
                scalars.append("\u{FFFD}")
                offset += length
            case .emptyInput:
                return (scalars, badBytes)
            }
        }
    }

    /// Reports the first line that a carriage return alone ends: old files have nothing else.
    private func reportReturns(_ log: DiagnosticLog) {
        for (line, range) in lines.enumerated() {
            let end = range.upperBound
            guard end < scalars.count, scalars[end] == "\r", !scalars[end...].starts(with: ["\r", "\n"]) else {
                continue
            }
            log.error(.text(.loneCarriageReturn), at: span(end..<end, line: line + 1))
            return
        }
    }

    /// Reports at most one unfit character per line: the next one is found when that is mended.
    private func reportCharacters(badBytes: [Int: UInt8], log: DiagnosticLog) {
        for (line, range) in lines.enumerated() {
            for index in range {
                guard let problem = problem(at: index, badByte: badBytes[index]) else { continue }
                log.error(.text(problem), at: span(index..<index + 1, line: line + 1))
                break
            }
        }
    }

    private func problem(at index: Int, badByte: UInt8?) -> TextProblem? {
        if let badByte { return .notUTF8(byte: badByte) }
        let scalar = scalars[index]
        switch scalar {
        case "\u{FEFF}": return .byteOrderMark
        case "\u{85}", "\u{2028}", "\u{2029}": return .lineSeparator(scalar.value)
        default: return scalar.isPrintableInYAML ? nil : .controlCharacter(scalar.value)
        }
    }
}
