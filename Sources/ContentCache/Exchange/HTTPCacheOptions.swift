public import HTTPCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// What can be set of an ``HTTPCache``.
public struct HTTPCacheOptions: Sendable {
  /// The name in `Cache-Status` (RFC 9211 §2): a token.
  public var name = "larder"
  /// Request fields that say who asks: answers to different values of any of them are never exchanged.
  public var credentialFields = CredentialFields()
  /// An abandoned transfer whose answer may be stored goes on to its end where at most this many bytes are missing.
  public var finishesAbandoned = 1 << 20
  /// How many bytes an answer that cannot be spooled may run ahead of its slowest reader.
  public var window = 1 << 18
  /// How long faster readers of an answer that cannot be spooled wait, in sum, for a slower one. It then goes on by a request
  /// of its own, for the range that it lacks; without a strong validator its content ends with an error.
  public var patience: Duration = .seconds(1)
  /// The time in milliseconds since 1970.
  public var now: @Sendable () -> Int64 = { HTTPCacheOptions.systemTime() }
  /// Is told of failures of the cache, which fail no request.
  public var onDiagnostic: @Sendable (CacheDiagnostic) -> Void = { _ in }

  /// The defaults.
  public init() {}

  private static func systemTime() -> Int64 {
    var time = timespec()
    // The pointer is to a local value, for the call alone.
    _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
