@_spi(Stores) internal import LarderCore
internal import LarderHTTP
internal import LarderOData
internal import LarderService
internal import LarderStorage

/// The user file of an OAuth grant that several processes use at once.
///
/// A process refreshes under a lock on `FILE.lock`, and saves the new refresh token with its access token in FILE. The
/// processes that waited read FILE again, and use that access token. Without such a wait, a saved access token is not
/// used: FILE may have been changed by hand since.
final class SharedUserFile: Sendable {
  private struct State {
    /// What this process has read or written last.
    var file: OAuthFile
    var lock: FileLock?
    var hasWarned = false
  }

  /// The file that links lead to, so that all paths to it have one lock, and the link stays.
  private let path: String
  private let limit: Duration
  private let context: CommandContext
  private let environment: LarderEnvironment
  private let state: Locked<State>

  /// Nil if the credentials are in no file that can be read again, such as standard input.
  ///
  /// - Parameter limit: how long to wait for the other processes.
  init?(
    _ file: OAuthFile, limit: Duration, _ context: CommandContext, in environment: LarderEnvironment = .system
  ) {
    guard file.file != "-", InputFile.isRegular(context.path(file.file)) else { return nil }
    path = FolderLock.target(of: context.path(file.file))
    self.limit = limit
    self.context = context
    self.environment = environment
    state = Locked(State(file: file))
  }

  /// The tokens in the file.
  var tokens: OAuth2SharedTokens {
    OAuth2SharedTokens(
      begin: { () async throws(HTTPAuthenticationError) -> OAuth2SharedTokens.Newer? in try await self.begin() },
      end: { self.end($0) })
  }

  /// Saves a token that was received without a refresh token.
  func save(_ token: OAuth2Token) { end(token) }

  private func begin() async throws(HTTPAuthenticationError) -> OAuth2SharedTokens.Newer? {
    let lock = try await wait()
    state.withLock { $0.lock = lock }
    if lock != nil { WholeFile.removeAbandoned(beside: path) }
    let former = state.withLock { $0.file }
    guard let bytes = try? InputFile.read(path, limit: InputFile.settingsLimit),
      let file = try? OAuthFile(bytes, file: former.file), file != former, file.isSameGrant(as: former),
      let refreshToken = file.refreshToken
    else { return nil }
    state.withLock { $0.file = file }
    return OAuth2SharedTokens.Newer(
      refreshToken: refreshToken, token: file.savedToken(unixTime: environment.unixSeconds))
  }

  private func end(_ token: OAuth2Token?) {
    let (file, lock) = state.withLock { state in
      defer { state.lock = nil }
      return (state.file, state.lock)
    }
    defer { lock?.release() }
    // Servers that keep the refresh token send none, or the same.
    guard let token, let refreshToken = token.refreshToken, refreshToken != file.refreshToken else { return }
    let newFile = file.replacing(token, refreshToken: refreshToken, unixTime: environment.unixSeconds)
    state.withLock { $0.file = newFile }
    do throws(FileError) {
      var output = try OutputFile.create(path, isPrivate: true)
      try output.write(newFile.encoded)
      try output.finish()
    } catch {
      context.warn("the new refresh token could not be saved: \(error)")
    }
  }

  /// Waits for the lock. Nil if the file cannot be locked: then the token is refreshed without it.
  private func wait() async throws(HTTPAuthenticationError) -> FileLock? {
    let start = environment.uptime()
    var isNoted = false
    while true {
      do throws(StorageError) { return try FileLock(path + ".lock") } catch {
        guard error.category == .inUse else {
          warnOnce(
            "the token is refreshed without a lock, and another process may refresh it at the same time: \(error)")
          return nil
        }
      }
      let time = environment.uptime() - start
      guard time < limit else { throw .unreachable(.timeout(phase: "wait for \(path).lock")) }
      if time >= .seconds(1), !isNoted {
        context.note("waiting for another process that refreshes the token in \(path)")
        isNoted = true
      }
      do { try await environment.sleep(.milliseconds(20)) } catch { throw .unreachable(.cancelled) }
    }
  }

  private func warnOnce(_ text: String) {
    let isFirst = state.withLock { state in
      defer { state.hasWarned = true }
      return !state.hasWarned
    }
    if isFirst { context.warn(text) }
  }
}
