import CPenumbraPlugin

/// What a plugin's library hands to the host.
public typealias PluginAddress = UnsafeRawPointer

/// Makes a filter known to the host.
public enum Plugin {
    /// The description of a filter for the host, which speaks `hostInterface`; nil when that is too old.
    ///
    /// A plugin's library has one filter, and this line:
    ///
    ///     @c(penumbra_plugin_entry) public func plugin(_ host: UInt32) -> PluginAddress? { Plugin.export(Sepia.self, to: host) }
    public static func export(_ filter: any Filter.Type, to hostInterface: UInt32) -> PluginAddress? {
        guard hostInterface >= PENUMBRA_PLUGIN_ABI else { return nil }
        return ExportedFilter.export(filter).map { PluginAddress($0) }
    }
}
