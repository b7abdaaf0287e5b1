import CLarderCurl
import LarderHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Configures easy handles: first with the settings that all transfers of a transport share, then with the request.
/// Used only on the engine's thread.
final class TransferSetup {
  private let settings: TransportSettings
  private let authorities: StableBytes?
  private let certificate: StableBytes?
  private let key: StableBytes?

  init(_ settings: TransportSettings) {
    self.settings = settings
    authorities = settings.certificateAuthorities.map { StableBytes(TransferSetup.withSystemBundle($0)) }
    certificate = settings.certificate.map { StableBytes($0) }
    key = settings.key.map { StableBytes($0) }
  }

  /// Configures the transfer's handle; returns the error if libcurl rejects a value.
  func apply(to transfer: CurlTransfer) -> HTTPTransportError? {
    let options = EasyOptions(transfer.handle)
    options.connect(transfer)
    common(options)
    trust(options)
    if transfer.exchange.prepared.showsCertificate { showCertificate(options) }
    request(options, transfer.exchange.prepared)
    fields(options, transfer)
    if transfer.exchange.prepared.hasContent { transfer.rewind() }
    guard options.firstError == CURLE_OK else {
      return unsafe .notSupported("libcurl: \(String(cString: curl_easy_strerror(options.firstError)))")
    }
    return nil
  }

  private func common(_ options: EasyOptions) {
    options.set(CURLOPT_NOSIGNAL, 1)
    options.set(CURLOPT_PROTOCOLS_STR, "http,https")
    options.set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
    options.set(CURLOPT_FOLLOWLOCATION, 0)
    options.set(CURLOPT_PATH_AS_IS, 1)
    options.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    options.set(CURLOPT_TCP_KEEPALIVE, 1)
    // Decoded on our side: libcurl accepts content that ends before its coding as complete.
    options.set(CURLOPT_HTTP_CONTENT_DECODING, 0)
    // A name look-up that hangs must not delay the end of a cancelled transfer.
    options.set(CURLOPT_QUICK_EXIT, 1)
    switch settings.options.highestVersion {
    case .http11: options.set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
    case .http2:
      options.set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
    }
  }

  private func trust(_ options: EasyOptions) {
    options.set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
    options.set(CURLOPT_SSL_VERIFYPEER, 1)
    options.set(CURLOPT_SSL_VERIFYHOST, 2)
    if let authorities {
      options.set(CURLOPT_CAINFO_BLOB, authorities)
      options.set(CURLOPT_PROXY_CAINFO_BLOB, authorities)
    }
  }

  private func showCertificate(_ options: EasyOptions) {
    guard let certificate, let format = settings.options.clientCertificate?.format else { return }
    options.set(CURLOPT_SSLCERTTYPE, format == .pem ? "PEM" : "P12")
    options.set(CURLOPT_SSLCERT_BLOB, certificate)
    if let key {
      options.set(CURLOPT_SSLKEYTYPE, "PEM")
      options.set(CURLOPT_SSLKEY_BLOB, key)
    }
    // Always set, even if empty: without a passphrase, OpenSSL would prompt on the terminal.
    options.set(CURLOPT_KEYPASSWD, settings.options.clientCertificate?.passphrase ?? "")
  }

  private func request(_ options: EasyOptions, _ request: CurlRequest) {
    options.set(CURLOPT_URL, request.url)
    // Prefers one connection with many streams to many connections. Without TLS there is no HTTP/2 to wait for.
    if request.isSecure && settings.options.highestVersion == .http2 { options.set(CURLOPT_PIPEWAIT, 1) }
    if request.hasContent {
      options.set(CURLOPT_UPLOAD, 1)
      options.set(CURLOPT_INFILESIZE_LARGE, request.contentLength ?? -1)
    } else if request.method == .head {
      options.set(CURLOPT_NOBODY, 1)
    } else {
      options.set(CURLOPT_HTTPGET, 1)
    }
    if request.method != .head { options.set(CURLOPT_CUSTOMREQUEST, request.method.rawValue) }
    options.set(CURLOPT_PROXY, request.proxy)
    options.set(CURLOPT_NOPROXY, settings.proxies.exceptions)
    // At least 1: libcurl reads 0 as its default, or as no limit.
    options.set(CURLOPT_CONNECTTIMEOUT_MS, max(1, request.timeouts.connect.wholeMilliseconds))
    if let total = request.timeouts.total { options.set(CURLOPT_TIMEOUT_MS, max(1, total.wholeMilliseconds)) }
  }

  private func fields(_ options: EasyOptions, _ transfer: CurlTransfer) {
    for line in transfer.exchange.prepared.fieldLines {
      // libcurl copies the text during the call.
      let text = HTTPField.bytes(of: line).map { CChar(bitPattern: $0) } + [0]
      guard let list = unsafe curl_slist_append(transfer.fieldList, text) else {
        options.firstError = CURLE_OUT_OF_MEMORY
        return
      }
      unsafe transfer.fieldList = unsafe list
    }
    unsafe options.set(CURLOPT_HTTPHEADER, transfer.fieldList)
  }

  /// CAs given as bytes replace libcurl's own CA file (not its CA folder). If there is no folder, the CAs of that file
  /// are added to the bytes.
  private static func withSystemBundle(_ extra: [UInt8]) -> [UInt8] {
    guard let version = unsafe larder_curl_version() else { return extra }
    if unsafe version.pointee.capath != nil { return extra }
    guard let path = unsafe version.pointee.cainfo,
      let data = unsafe FileManager.default.contents(atPath: String(cString: path))
    else { return extra }
    return extra + Array(data)
  }
}

/// Bytes at a stable address, which libcurl reads whenever it connects.
@safe final class StableBytes {
  let bytes: UnsafeMutableRawBufferPointer

  init(_ source: [UInt8]) {
    unsafe bytes = .allocate(byteCount: source.count, alignment: 1)
    unsafe bytes.copyBytes(from: source)
  }

  deinit { unsafe bytes.deallocate() }
}

/// A typed `curl_easy_setopt`; remembers the first value that was rejected.
@safe final class EasyOptions {
  private let handle: UnsafeMutableRawPointer
  var firstError = CURLE_OK

  init(_ handle: EasyHandle) { unsafe self.handle = handle.pointer }

  func set(_ option: CURLoption, _ value: Int) {
    // curl_off_t options take their numbers in another width.
    let isOffset = option == CURLOPT_INFILESIZE_LARGE
    recordError(
      isOffset
        ? unsafe larder_curl_setopt_offset(handle, option, curl_off_t(value))
        : unsafe larder_curl_setopt_long(handle, option, value))
  }

  /// libcurl copies texts.
  func set(_ option: CURLoption, _ value: String) {
    recordError(unsafe larder_curl_setopt_string(handle, option, value))
  }

  func set(_ option: CURLoption, _ value: StableBytes) {
    recordError(unsafe larder_curl_setopt_blob(handle, option, value.bytes.baseAddress, value.bytes.count))
  }

  func set(_ option: CURLoption, _ value: UnsafeMutablePointer<curl_slist>?) {
    recordError(unsafe larder_curl_setopt_list(handle, option, value))
  }

  /// Sets the callbacks, each with the transfer, which outlives the handle's use of it.
  func connect(_ transfer: CurlTransfer) {
    let pointer = unsafe Unmanaged.passUnretained(transfer).toOpaque()
    recordError(unsafe larder_curl_setopt_pointer(handle, CURLOPT_ERRORBUFFER, transfer.errorText))
    for option in [CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_READDATA, CURLOPT_SEEKDATA, CURLOPT_PREREQDATA] {
      recordError(unsafe larder_curl_setopt_pointer(handle, option, pointer))
    }
    recordError(unsafe larder_curl_setopt_write(handle, CURLOPT_WRITEFUNCTION, curlReceivedContent))
    recordError(unsafe larder_curl_setopt_write(handle, CURLOPT_HEADERFUNCTION, curlReceivedLine))
    recordError(unsafe larder_curl_setopt_read(handle, CURLOPT_READFUNCTION, curlWantsContent))
    recordError(unsafe larder_curl_setopt_seek(handle, CURLOPT_SEEKFUNCTION, curlSeeks))
    recordError(unsafe larder_curl_setopt_prereq(handle, CURLOPT_PREREQFUNCTION, curlIsConnected))
  }

  private func recordError(_ code: CURLcode) {
    if firstError == CURLE_OK { firstError = code }
  }
}
