import JobModel
package import Logging

/// Writes log records without characters that a terminal would obey. Job names, paths and messages in them come from
/// clients, manifests and workers. A message keeps the lines of its remedies. Everything else of a record stays on one line.
package struct VisibleLogHandler: LogHandler {
    private var inner: any LogHandler

    /// - Parameter inner: writes the records.
    package init(_ inner: any LogHandler) { self.inner = inner }

    package var logLevel: Logger.Level {
        get { inner.logLevel }
        set { inner.logLevel = newValue }
    }

    package var metadata: Logger.Metadata {
        get { inner.metadata }
        set { inner.metadata = newValue.visible }
    }

    package var metadataProvider: Logger.MetadataProvider? {
        get { inner.metadataProvider }
        set { inner.metadataProvider = newValue }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { inner[metadataKey: key] }
        set { inner[metadataKey: key] = newValue?.visible }
    }

    package func log(event: LogEvent) {
        var event = event
        event.message = "\(VisibleText.message("\(event.message)"))"
        event.metadata = event.metadata?.visible
        inner.log(event: event)
    }
}

extension Logger.Metadata {
    fileprivate var visible: Logger.Metadata {
        Dictionary(map { (VisibleText.line($0), $1.visible) }) { first, _ in first }
    }
}

extension Logger.MetadataValue {
    fileprivate var visible: Logger.Metadata.Value {
        switch self {
        case .string(let text): .string(VisibleText.line(text))
        case .stringConvertible(let value): .string(VisibleText.line("\(value)"))
        case .dictionary(let values): .dictionary(values.visible)
        case .array(let values): .array(values.map(\.visible))
        }
    }
}
