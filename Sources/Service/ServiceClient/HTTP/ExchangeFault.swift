/// Why a request got no answer that counts.
package enum ExchangeFault: Error, Hashable {
    /// Nobody listens.
    case noListener
    case notConnected(code: Int32)
    /// The other side, or the kernel, ended the connection too early. The code is 0 if the other side ended it in good
    /// order.
    case broken(code: Int32)
    /// Nothing came in time.
    case silent(Duration)
    /// The answer breaks a rule of HTTP or of the API, or a limit. The words follow "the answer of the service is wrong: ".
    case wrong(String)
    /// The answer is an error.
    case refused(ServiceError)

    /// Whether another try may succeed: a service that was killed is started again.
    ///
    /// - Parameter isFirst: Whether it was the first try. If nobody listens then, no service was there.
    func mayPass(isFirst: Bool) -> Bool {
        switch self {
        case .broken: true
        case .noListener: !isFirst
        case .notConnected, .silent, .wrong, .refused: false
        }
    }
}
