import Glibc
import JobModel
import SafeFiles
import Synchronization
import Terminals

/// Standard output and standard error.
enum Console {
    static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }
    static var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// The columns of the terminal at standard error; 80 if unknown.
    static var width: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// The error code of a failed write to standard output. A reader that has closed its end is no failure.
    static var outputFailure: Int32? { failure.withLock { $0 } }
    private static let failure = Mutex<Int32?>(nil)

    /// The reader of standard output is too slow. From now on no write waits for it, nor for the reader of standard error, which may
    /// be the same.
    static func abandonOutput() { isAbandoned.store(true, ordering: .relaxed) }
    private static let isAbandoned = Atomic(false)

    /// The value of `--color`.
    static func use(_ choice: ColorChoice) { colors.withLock { $0 = choice } }
    private static let colors = Mutex(ColorChoice.auto)

    /// Those environment variables that say what a terminal can show.
    private static let environment: [String: String] = {
        let names = ["TERM", "NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG"]
        let values = names.compactMap { name in getenv(name).map { (name, String(cString: $0)) } }
        return Dictionary(uniqueKeysWithValues: values)
    }()
    private static let needsASCII = ASCIIText.isNeeded(environment)

    /// Control characters are shown by their numbers, whatever the text's source.
    static func print(_ text: String) { put(shown(VisibleText.lines(text), isTerminal: outputIsTerminal)) }

    /// Control characters are escaped as in JSON.
    static func printJSON(_ json: String) { put(VisibleText.json(json)) }

    static func complain(_ text: String) {
        _ = write(shown(VisibleText.lines(text), isTerminal: errorIsTerminal) + "\n", to: STDERR_FILENO)
    }

    private static func shown(_ text: String, isTerminal: Bool) -> String {
        let text = isTerminal ? readable(text) : text
        let isColored = colors.withLock { $0 }.isColored(isTerminal: isTerminal, environment)
        return isColored ? MessageColors.colored(text) : text
    }

    /// The text for a terminal: in ASCII if its locale is not UTF-8. Files and pipes get UTF-8 in every locale, so that programs always
    /// read the same bytes.
    static func readable(_ text: String) -> String { needsASCII ? ASCIIText.of(text) : text }

    private static func put(_ line: String) {
        guard !isAbandoned.load(ordering: .relaxed) else { return }
        let code = write(line + "\n", to: STDOUT_FILENO)
        if code != 0, code != EPIPE { failure.withLock { $0 = code } }
    }

    enum Stream {
        case output
        case errors
    }

    /// Writes text unchanged and without a newline, such as a progress bar.
    static func draw(_ text: String, to stream: Stream = .errors) {
        _ = write(text, to: stream == .output ? STDOUT_FILENO : STDERR_FILENO)
    }

    /// Whether a line can be written without waiting for a reader.
    private static func takesMore(_ descriptor: Int32) -> Bool {
        var polled = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&polled, 1, 0) == 1
    }

    /// Writes all of the text, even if signals interrupt it. Returns 0 or an error code.
    private static func write(_ text: String, to descriptor: Int32) -> Int32 {
        guard !isAbandoned.load(ordering: .relaxed) || takesMore(descriptor) else { return 0 }
        return FileCalls.kernel.writeAll(Array(text.utf8)[...], to: descriptor)
    }
}

/// Text in aligned columns.
struct Table {
    private var rows: [[String]] = []

    init(_ header: [String] = []) {
        if !header.isEmpty { rows = [header] }
    }

    /// Names and texts of others may be in a row. It stays one line.
    mutating func add(_ cells: String...) { rows.append(cells.map(VisibleText.line)) }

    /// The width of a column in which only a few cells are longer. Those shift the rest of their own rows only.
    private static let usualWidth = 48

    /// One line for each row. Two spaces are between columns, and none follow the last one.
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
