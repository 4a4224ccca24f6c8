/// What one client may ask of the service.
package struct HTTPLimits: Hashable, Sendable {
    package var bodyBytes = 1 << 20
    /// The time from the end of the head to the end of the body.
    package var bodyTime: Duration = .seconds(20)
    package var headBytes = 16 << 10
    package var headFields = 64
    /// The time from the first byte of a head to its end. A new connection has as long to send its first byte.
    package var headTime: Duration = .seconds(10)
    /// How long a connection may be silent between two requests.
    package var keepAliveTime: Duration = .seconds(60)
    /// How long a client may accept no byte of an answer.
    package var stalledTime: Duration = .seconds(60)
    /// For each listener, so that a crowd at the web port does not keep the administrator from the control socket. Streams
    /// of events do not count: they have a limit of their own.
    package var connections = 256
    package var followers = 500
    /// The streams of events of one token, all browsers that have shown it included. One token must not take the places of all others.
    package var followersOfToken = 50
    /// For each token.
    package var writesPerSecond = 10
    package var readsPerSecond = 100
    /// For each address.
    package var wrongTokensPerMinute = 5
    /// How long open requests have to end when the service stops.
    package var shutdownTime: Duration = .seconds(10)

    package init() {}
}
