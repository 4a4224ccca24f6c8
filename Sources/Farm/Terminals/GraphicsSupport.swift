/// How a terminal shows pictures.
package enum GraphicsProtocol: Hashable, Sendable {
    /// PNG data in escape sequences: https://sw.kovidgoyal.net/kitty/graphics-protocol/
    case kitty
    /// Bands of six rows in up to 256 colours, as in DEC's terminals.
    case sixel
}

/// A question to a terminal, and what it answered so far.
///
/// The first part of the question is one of the kitty protocol, and is answered only by terminals that know it. The second part, about
/// the device's attributes, is answered by every terminal. So its answer ends the wait.
package struct GraphicsQuery: Sendable {
    /// A picture of one pixel that is only checked, and then the request for the device's attributes (DA1).
    package static let question = "\u{1b}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u{1b}\\\u{1b}[c"

    private var answer = ""

    package init() {}

    /// Whether it is any use to ask the terminal that an environment names.
    package static func isWorthwhile(_ environment: [String: String]) -> Bool {
        // The console of Linux prints a part of the question.
        !["", "dumb", "linux"].contains(environment["TERM"] ?? "")
    }

    package mutating func add(_ bytes: some Collection<UInt8>) { answer += String(decoding: bytes, as: UTF8.self) }

    /// The end of the wait: the attributes of the device are known.
    package var isAnswered: Bool { attributes != nil }

    /// Nil if the terminal shows no pictures, or has not answered.
    package var graphics: GraphicsProtocol? {
        if answer.contains("\u{1b}_Gi=31;OK\u{1b}\\") { return .kitty }
        return attributes?.contains("4") == true ? .sixel : nil
    }

    /// `ESC [ ? 62 ; 4 c`
    private var attributes: [Substring]? {
        for part in answer.split(separator: "\u{1b}[?").dropFirst(answer.hasPrefix("\u{1b}[?") ? 0 : 1) {
            let numbers = part.prefix { $0.isASCII && $0.isNumber || $0 == ";" }
            if part[numbers.endIndex...].first == "c" { return numbers.split(separator: ";") }
        }
        return nil
    }
}
