import Glibc
import ServiceAPI

/// Talks to a service. Its calls block, so tasks call them on a thread of their own.
///
/// Each request has a connection of its own: commands send few of them.
package struct APIClient: Sendable {
    package struct Options: Sendable {
        /// The longest time without a byte of an answer.
        package var silence: Duration = .seconds(30)
        /// The longest time for a whole answer.
        package var total: Duration = .seconds(120)
        /// The same for a stream of events. The service writes something every 15 s.
        package var streamSilence: Duration = .seconds(60)
        package var largestAnswer = 16 << 20
        /// How often a request is sent, if it may be repeated and the connection breaks each time.
        package var attempts = 5
        /// How long a request waits in all for a service that takes no more of this caller's requests for now (429).
        package var patience: Duration = .seconds(60)
        /// How often a stream is opened again in a row without anything coming.
        package var reconnects = 30
        /// Waits before a repetition.
        package var pause: @Sendable (Duration) -> Void = { duration in
            let (seconds, attoseconds) = duration.components
            var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
            var rest = timespec()
            while nanosleep(&time, &rest) != 0, errno == EINTR { time = rest }
        }

        package init() {}
    }

    package let address: ServiceAddress
    private let token: BearerToken?
    private let options: Options

    package init(_ address: ServiceAddress, token: BearerToken? = nil, options: Options = Options()) {
        self.address = address
        self.token = token
        self.options = options
    }

    // MARK: Requests

    /// Sends a request, and returns the answer if its status is of 200–299.
    ///
    /// If the connection breaks before the answer is complete, a request that may be repeated is sent again. If the service asks to
    /// wait because there are too many requests, the request is sent again afterwards: it was not carried out.
    package func send(_ request: ClientRequest) throws(ServiceError) -> ClientAnswer {
        let bytes = try request.bytes(
            to: address, token: token, accepting: "application/json, application/problem+json")
        var (attempt, patience) = (1, options.patience)
        while true {
            do throws(ExchangeFault) {
                let answer = try exchange(bytes)
                guard answer.status == 429, let pause = answer.retryAfter, pause <= patience else {
                    return try success(answer)
                }
                patience -= pause
                options.pause(pause)
                continue
            } catch {
                guard request.isRepeatable, attempt < options.attempts, error.mayPass(isFirst: attempt == 1) else {
                    throw self.error(error)
                }
            }
            // 0.1, 0.2, 0.4, 0.8 s: a service that starts again takes less.
            options.pause(.milliseconds(100 << min(attempt - 1, 6)))
            attempt += 1
        }
    }

    /// Sends a request whose answer is JSON.
    package func call<Answer: Decodable>(
        _ request: ClientRequest, as type: Answer.Type = Answer.self
    ) throws(ServiceError) -> Answer { try decode(type, from: send(request)) }

    /// Reads the JSON of an answer.
    package func decode<Answer: Decodable>(
        _ type: Answer.Type = Answer.self, from answer: ClientAnswer
    ) throws(ServiceError) -> Answer {
        guard answer.type == "application/json" else { throw error(.wrong("it is no JSON")) }
        do throws(BodyError) {
            return try StrictJSON.decode(type, from: answer.body, limit: options.largestAnswer, unknownKeys: .ignored)
        } catch {
            throw self.error(.wrong(Explanation(message: error.message).summary))
        }
    }

    private func exchange(_ request: [UInt8]) throws(ExchangeFault) -> ClientAnswer {
        let total = Deadline(in: options.total)
        var head: AnswerHead?
        var body: [UInt8] = []
        try receive(
            request, largestBody: options.largestAnswer,
            deadline: { Deadline.earlier(total, Deadline(in: options.silence)) }
        ) { piece in
            switch piece {
            case .head(let found): head = found
            case .body(let bytes): body += bytes
            }
            return true
        }
        guard let head else { throw .broken(code: 0) }
        return ClientAnswer(head: head, body: body)
    }

    /// Sends a request, and passes the pieces of its answer on until the answer ends, or until `take` returns false.
    private func receive(
        _ request: [UInt8], largestBody: Int, deadline: () -> Deadline,
        _ take: (AnswerParser.Piece) throws(ExchangeFault) -> Bool
    ) throws(ExchangeFault) {
        let connection = try Connection(to: address.place, within: options.silence)
        try connection.send(request, until: deadline())
        var parser = AnswerParser(largestBody: largestBody)
        while true {
            let bytes = try connection.receive(until: deadline())
            parser.append(bytes)
            while let piece = try parser.next() {
                guard try take(piece) else { return }
            }
            if parser.hasEnded || bytes.isEmpty && parser.isCompleteAtClose { return }
            guard !bytes.isEmpty else { throw .broken(code: 0) }
        }
    }

    private func success(_ answer: ClientAnswer) throws(ExchangeFault) -> ClientAnswer {
        guard !(200..<300).contains(answer.status) else { return answer }
        throw .refused(ServiceError(status: answer.status, Self.problem(of: answer)))
    }

    /// Nil if the answer has none.
    private static func problem(of answer: ClientAnswer) -> ErrorBody? {
        guard answer.type == "application/problem+json" else { return nil }
        // A problem that cannot be read says as little as none: the status is what counts.
        return try? StrictJSON.decode(from: answer.body, limit: AnswerParser.largestHead * 16, unknownKeys: .ignored)
    }

    // MARK: Events

    /// Whether a follower wants more events.
    package enum Follow: Sendable {
        case goOn
        case stop
    }

    /// The service sends an event of this name every 15 seconds. It shows that the connection works, and nothing has happened.
    private static let heartbeatName = "alive"

    /// Passes events on, one by one, until the follower stops, or until the service says that there are no more (204).
    ///
    /// If the stream ends or breaks, it is opened again, and goes on behind the last event. An event `reset` says that the
    /// service does not know all events since then: what the follower knows, he has to ask for anew.
    ///
    /// - Parameter lastEventID: Events behind this one. Nil for those from now on.
    /// - Throws: ``ServiceError`` if the service refuses the stream, or cannot be reached for long.
    package func follow(
        _ path: String, after lastEventID: String? = nil, _ receive: (ServerEvent) -> Follow
    ) throws(ServiceError) {
        let request = ClientRequest(.get, path)
        var lastEventID = lastEventID
        var retry = Duration.seconds(2)
        var failures = 0
        while true {
            var stream = EventParser(after: lastEventID)
            let bytes = try request.bytes(
                to: address, token: token, accepting: "text/event-stream, application/problem+json",
                after: lastEventID)
            var isAlive = false
            var failure: ExchangeFault?
            do throws(ExchangeFault) {
                guard try self.stream(bytes, into: &stream, isAlive: &isAlive, receive) else { return }
            } catch {
                failure = error
            }
            lastEventID = stream.lastEventID
            retry = Self.pause(stream.retry ?? retry)
            failures = isAlive ? 0 : failures + 1
            if let failure, !failure.mayPassForFollowers || failures > options.reconnects { throw error(failure) }
            guard failures <= options.reconnects else { throw error(.broken(code: 0)) }
            options.pause(retry)
        }
    }

    /// The service may ask for a pause, but neither for none nor for one without an end.
    private static func pause(_ wanted: Duration) -> Duration { min(max(wanted, .milliseconds(100)), .seconds(30)) }

    /// Passes the events of one stream on.
    ///
    /// - Parameter isAlive: Set when something of the stream has come.
    /// - Returns: Whether there may be more events.
    private func stream(
        _ request: [UInt8], into parser: inout EventParser, isAlive: inout Bool, _ receive: (ServerEvent) -> Follow
    ) throws(ExchangeFault) -> Bool {
        var head: AnswerHead?
        var problem: [UInt8] = []
        var mayContinue = true
        try self.receive(
            request, largestBody: .max, deadline: { Deadline(in: options.streamSilence) }
        ) { piece throws(ExchangeFault) in
            switch piece {
            case .head(let found):
                head = found
                if found.status == 200, ClientAnswer(head: found, body: []).type != "text/event-stream" {
                    throw .wrong("it is no stream of events")
                }
            case .body(let bytes) where head?.status == 200:
                isAlive = true
                for event in try parser.append(bytes) where mayContinue && event.name != Self.heartbeatName {
                    mayContinue = receive(event) == .goOn
                }
            case .body(let bytes):
                problem += bytes
                guard problem.count <= AnswerParser.largestHead else { throw .wrong("its body is too long") }
            }
            return mayContinue
        }
        guard let head else { throw .broken(code: 0) }
        if head.status == 204 { return false }
        guard head.status == 200 else { _ = try success(ClientAnswer(head: head, body: problem)); return false }
        return mayContinue
    }

    // MARK: Errors

    private func error(_ fault: ExchangeFault) -> ServiceError {
        let place = ServiceError.shown(address.description)
        switch fault {
        case .refused(let error): return error
        case .noListener:
            return ServiceError(.noService, "no service listens at \(place)\n   = start one: 'penumbra serve'")
        case .notConnected(let code):
            let remedy =
                code == EACCES || code == EPERM
                ? "\n   = the socket belongs to another user: use the address that he has given you, and a token" : ""
            return ServiceError(.connection, "cannot connect to \(place): \(String(cString: strerror(code)))\(remedy)")
        case .broken(let code):
            let reason = code == 0 ? "" : " (\(String(cString: strerror(code))))"
            return ServiceError(
                .connection,
                "the service at \(place) has ended the connection before its answer was complete\(reason)"
                    + "\n   = look whether it still runs, and repeat the command")
        case .silent(let limit):
            return ServiceError(
                .connection,
                "the service at \(place) has not answered within \(limit.formatted)\n   = look whether it "
                    + "is stopped, or very busy, and repeat the command")
        case .wrong(let words):
            return ServiceError(
                .answer,
                "the answer of \(place) is wrong: \(ServiceError.shown(words))\n   = look whether a Penumbra "
                    + "service of this version listens there")
        }
    }
}

extension ExchangeFault {
    /// Whether a follower may come back. Services refuse followers for a while if there are too many.
    fileprivate var mayPassForFollowers: Bool {
        switch self {
        case .noListener, .broken, .silent: true
        case .notConnected, .wrong: false
        case .refused(let error): [429, 502, 503, 504].contains(error.status)
        }
    }
}

extension Duration {
    /// `30 s`, `250 ms`
    fileprivate var formatted: String {
        let milliseconds = components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
        return milliseconds % 1000 == 0 ? "\(milliseconds / 1000) s" : "\(milliseconds) ms"
    }
}
