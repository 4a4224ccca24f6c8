import FoundationEssentials
import JobModel
import Planning
import SafeFiles
import Settings

/// The config file that `penumbra config --init` writes.
enum ConfigTemplate {
    /// The shipped config file, which is also `config/penumbra.yaml`. Every key is a comment, so that it changes no setting.
    static var text: String { String(decoding: PackageResources.config_yaml, as: UTF8.self) }

    /// Writes the file where Penumbra looks for it, and returns its path.
    ///
    /// - Parameter named: the path that the user gave.
    static func write(named: String?) throws(FarmError) -> String {
        let environment = ProcessInfo.processInfo.environment
        let given = named ?? environment["PENUMBRA_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
        let path = PathText.normalized(
            given ?? Settings.userConfigFile(environment, homeFolder: Machine.homeFolder(environment)),
            in: currentFolder())
        do {
            _ = try FileSystem.createFolders(PathText.folder(of: path))
        } catch {
            throw FarmError(.storage, error.message(orChoose: "another path by --config"))
        }
        try NewFile.write(text, to: path, "the config file", option: "--init")
        return path
    }
}
