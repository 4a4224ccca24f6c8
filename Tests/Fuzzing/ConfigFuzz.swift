@testable import Settings

/// Reads a config file of the machine, one of the user, and variables of the environment.
@c(LLVMFuzzerTestOneInput)
public func fuzzConfig(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let parts = Input(start, count).parts(3)
    let base = PathBase(folder: "/etc/penumbra", home: "/home/ann")
    for part in parts {
        for error in ConfigFile(bytes: part, name: "penumbra.yaml", base: base).errors {
            precondition(!error.isEmpty, "a problem can be shown")
        }
    }
    let names = SettingKey.all.compactMap(\.variable)
    let values = parts.last?.split(separator: 10).map { String(decoding: $0, as: UTF8.self) } ?? []
    let environment = Dictionary(zip(names, values)) { first, _ in first }
    let (machine, user) = (parts[0], parts.count > 1 ? parts[1] : [])
    let launch = Settings.LaunchEnvironment(
        environment: environment, currentFolder: "/home/ann", programFolder: "/usr/bin", cores: 8, memory: 16 << 30,
        homeFolder: "/home/ann"
    ) { path in
        .bytes(path == Settings.machineConfigFile ? machine : user)
    }
    // Wrong settings are an ordinary result.
    let settings = try? Settings(Settings.Flags(), launch)
    precondition(settings.map { GivenValues.workerRange.contains($0.workers.value) } ?? true, "there are workers")
    return 0
}
