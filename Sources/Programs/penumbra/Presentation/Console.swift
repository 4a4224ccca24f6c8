import Glibc
import JobModel
import Synchronization

/// Standard output and standard error, and what they are connected to.
enum Console {
    static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }
    static var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Columns of the terminal at standard error, 80 where it does not tell.
    static var width: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Why standard output could not be written, if it could not. A reader that has gone is no failure.
    static var outputFailure: Int32? { failure.withLock { $0 } }
    private static let failure = Mutex<Int32?>(nil)

    /// Whoever reads standard output has not done so for long. Nothing waits for that any more, nor for standard error, which may
    /// go the same way.
    static func abandonOutput() { isAbandoned.store(true, ordering: .relaxed) }
    private static let isAbandoned = Atomic(false)

    /// Characters that would do something to a terminal are shown by their numbers. All text goes this way, whoever wrote it.
    static func print(_ text: String) { put(VisibleText.lines(text)) }

    /// The same characters are escaped as JSON has it.
    static func printJSON(_ json: String) { put(VisibleText.json(json)) }

    static func complain(_ text: String) { _ = write(VisibleText.lines(text) + "\n", to: STDERR_FILENO) }

    private static func put(_ line: String) {
        guard !isAbandoned.load(ordering: .relaxed) else { return }
        let code = write(line + "\n", to: STDOUT_FILENO)
        if code != 0, code != EPIPE { failure.withLock { $0 = code } }
    }

    enum Stream {
        case output
        case errors
    }

    /// Without a newline, and as it is: for what is drawn over.
    static func draw(_ text: String, to stream: Stream = .errors) {
        _ = write(text, to: stream == .output ? STDOUT_FILENO : STDERR_FILENO)
    }

    /// Whether a line can be written without waiting for a reader.
    private static func takesMore(_ descriptor: Int32) -> Bool {
        var polled = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&polled, 1, 0) == 1
    }

    /// Whole, whatever a signal interrupts. 0, or what went wrong.
    private static func write(_ text: String, to descriptor: Int32) -> Int32 {
        guard !isAbandoned.load(ordering: .relaxed) || takesMore(descriptor) else { return 0 }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { return errno }
            rest = rest.dropFirst(written)
        }
        return 0
    }
}

/// Text in aligned columns.
struct Table {
    private var rows: [[String]] = []

    init(_ header: [String] = []) {
        if !header.isEmpty { rows = [header] }
    }

    mutating func add(_ cells: String...) { rows.append(cells) }

    /// Of a column in which only a few cells are longer. These move what follows them in their own rows alone.
    private static let usualWidth = 48

    /// One line a row; columns two blanks apart, the last one not padded.
    var lines: [String] {
        let count = rows.map(\.count).max() ?? 0
        let widths = (0..<count).map { column in
            let lengths = rows.map { column < $0.count ? $0[column].terminalColumns : 0 }.sorted()
            let most = max(Self.usualWidth, lengths[lengths.count * 3 / 4])
            return lengths.last { $0 <= most } ?? 0
        }
        return rows.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                let padding = String(repeating: " ", count: max(0, widths[column] - cell.terminalColumns) + 2)
                line += column == row.count - 1 ? cell : cell + padding
            }
            return line
        }
    }
}
