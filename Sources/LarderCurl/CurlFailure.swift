import CLarderCurl
import LarderHTTP

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The error information of a failed transfer from libcurl, and its translation to an `HTTPTransportError`.
struct CurlFailure {
  var code: CURLcode
  /// libcurl's own message.
  var message: String
  /// `errno` of the last system call that failed; 0 if none did.
  var systemError: Int
  /// The status of a proxy's response to `CONNECT`; 0 if there was none.
  var tunnelStatus: Int
  /// Whether the connection was established and the request could be sent.
  var isConnected: Bool
  var host: String
  /// Whether the response's head is incomplete.
  var isInHead: Bool
  /// Whether the total time-out has passed.
  var isPastTotal: Bool

  /// The error as an `HTTPTransportError`.
  var error: HTTPTransportError {
    if tunnelStatus != 0 && !(200..<300).contains(tunnelStatus) && !isConnected {
      return .cannotConnect(host: host, reason: "the proxy rejected the tunnel with status \(tunnelStatus)")
    }
    switch code {
    case CURLE_URL_MALFORMAT: return .invalidRequest("its URL is malformed")
    case CURLE_COULDNT_RESOLVE_HOST: return .hostNotFound(host: host)
    case CURLE_COULDNT_RESOLVE_PROXY:
      return .cannotConnect(host: host, reason: "the name of the proxy cannot be resolved")
    case CURLE_COULDNT_CONNECT, CURLE_PROXY, CURLE_INTERFACE_FAILED:
      return .cannotConnect(host: host, reason: message)
    case CURLE_OPERATION_TIMEDOUT: return .timeout(phase: isConnected || isPastTotal ? "total" : "connect")
    case CURLE_NOT_BUILT_IN, CURLE_UNKNOWN_OPTION: return .notSupported("libcurl: \(message)")
    // libcurl limits a header line, and has no other code for one that is longer.
    case CURLE_OUT_OF_MEMORY where isConnected && isInHead:
      return .protocolViolation("a header field is too large: libcurl accepts up to 100 kB")
    // libcurl has no other code for a line that continues a field when there is none (RFC 9112 §2.2).
    case CURLE_BAD_FUNCTION_ARGUMENT where isConnected && isInHead:
      return .protocolViolation("the first header field begins with white space")
    case CURLE_OUT_OF_MEMORY: return .other("libcurl is out of memory")
    default: return tlsError ?? exchangeError
    }
  }

  private var tlsError: HTTPTransportError? {
    switch code {
    case CURLE_SSL_CONNECT_ERROR where systemError == Int(ECONNRESET):
      return .cannotConnect(host: host, reason: "the connection was reset during the TLS handshake")
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
      CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED,
      CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
      CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT, CURLE_USE_SSL_FAILED:
      return .tls(host: host, reason: message)
    default: return nil
    }
  }

  private var exchangeError: HTTPTransportError {
    switch code {
    case CURLE_UNSUPPORTED_PROTOCOL: .protocolViolation("the response does not begin with an HTTP status line")
    case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING: .protocolViolation(message)
    case CURLE_RECV_ERROR where isBadChunk: .protocolViolation(message)
    case CURLE_GOT_NOTHING: .connectionLost(reason: "the server closed it without a response")
    case CURLE_PARTIAL_FILE: .connectionLost(reason: "before the end of the content")
    case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_SEND_FAIL_REWIND:
      .connectionLost(reason: message)
    default: .other("\(message) (libcurl \(code.rawValue))")
    }
  }

  /// libcurl has one code for a broken connection and for broken chunks; only its message distinguishes them. If the
  /// message changes, the error is the less precise `connectionLost`.
  private var isBadChunk: Bool { systemError == 0 && message.contains("chunked-encoding") }
}
