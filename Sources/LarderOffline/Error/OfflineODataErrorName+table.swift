// The table of error names: the category, the message and the remedy of each.
extension OfflineODataErrorName {
  /// The entry of a name in the table.
  struct Entry: Sendable {
    let category: OfflineODataError.Category
    let message: String
    let cure: String?

    init(_ category: OfflineODataError.Category, _ message: String, _ cure: String? = nil) {
      self.category = category
      self.message = message
      self.cure = cure
    }
  }

  /// The entry of the name. Every name has one, which a test checks.
  var entry: Entry { Self.table[self] ?? Entry(.clientInternalError, "The store failed.") }

  static let table: [OfflineODataErrorName: Entry] = Dictionary(
    invalidInput + preconditionFailed + notFound + notSupported + communicationError + serverSideError
      + clientInternalError, uniquingKeysWith: { first, _ in first })

  private static let invalidInput: [(OfflineODataErrorName, Entry)] = [
    (.malformedURL, Entry(.invalidInput, "The text is not a valid OData URL.")),
    (.unfittingURL, Entry(.invalidInput, "The URL does not fit the service's model.")),
    (.notPositiveTop, Entry(.invalidInput, "$top is not a whole number of 0 or more.", "Correct the number.")),
    (.notPositiveSkip, Entry(.invalidInput, "$skip is not a whole number of 0 or more.", "Correct the number.")),
    (
      .invalidSkipToken,
      Entry(.invalidInput, "The $skiptoken does not belong to this query.", "Use the next link unchanged.")
    ),
    (.duplicateKeyProperty, Entry(.invalidInput, "The key contains a property twice.", "Name it once.")),
    (.missingKeyProperty, Entry(.invalidInput, "The key is incomplete.", "Give a value for each key property.")),
    (.invalidValue, Entry(.invalidInput, "The value does not fit its type.")),
    (
      .invalidStoreName,
      Entry(
        .invalidInput, "The store's name cannot be a file name.",
        "Use 1 to 200 bytes of letters, digits, '-', '_' and '.'; the name must not be one or two dots.")
    ),
    (.invalidParameter, Entry(.invalidInput, "A parameter of the store is outside its range.")),
    (
      .invalidDefiningQueryName,
      Entry(
        .invalidInput, "The name is not valid for a defining query.",
        "Use 1 to 128 characters without control characters.")
    ),
    (
      .duplicateDefiningQuery,
      Entry(
        .invalidInput, "There is already a defining query with this name.", "Remove it first, or choose another name.")
    ),
    (.invalidDefiningQuery, Entry(.invalidInput, "The text is not a valid defining query.")),
    (.invalidServiceRoot, Entry(.invalidInput, "The service root is not an http or https URL.")),
    (.invalidQuery, Entry(.invalidInput, "The query cannot be computed.")),
    (
      .undecodableType,
      Entry(
        .invalidInput, "The result cannot be decoded to the type.",
        "Use a type that can hold the values of the declared type.")
    ),
    (.unknownProperty, Entry(.invalidInput, "The type has no such property.")),
    (.nullNotAllowed, Entry(.invalidInput, "The property cannot be null.", "Give a value.")),
    (.keyChanged, Entry(.invalidInput, "The key of an entity cannot be changed.", "Leave the key out.")),
    (.readOnlyProperty, Entry(.invalidInput, "A client cannot set the property.", "Leave it out.")),
    (.unfittingBody, Entry(.invalidInput, "The content does not fit the request.")),
    (
      .noDefaultLocation,
      Entry(
        .invalidInput, "The store has no path, and the platform's folder for data is unknown.",
        "Set HOME to the user's home folder, or give the store a path.")
    ),
    (.invalidRequest, Entry(.invalidInput, "The request is invalid and was not sent.", "Correct the request.")),
  ]

  private static let preconditionFailed: [(OfflineODataErrorName, Entry)] = [
    (.storeNotOpen, Entry(.preconditionFailed, "The store is not open.", "Open it first.")),
    (.storeOpen, Entry(.preconditionFailed, "The store is open.", "Close it first.")),
    (
      .downloadRunning,
      Entry(.preconditionFailed, "Another download of this store is running.", "Wait until it ends, or cancel it.")
    ),
    (
      .uploadRunning,
      Entry(.preconditionFailed, "Another upload of this store is running.", "Wait until it ends, or cancel it.")
    ),
    (
      .otherService,
      Entry(.preconditionFailed, "The store's file belongs to another service.", "Choose another name or path.")
    ),
    (
      .storeInUse,
      Entry(
        .preconditionFailed, "Another store or process is using the file.",
        "Try again; if the error remains, close the store in the other process.")
    ),
    (
      .neverPassive,
      Entry(
        .preconditionFailed, "An offline store has no passive mode.",
        "Leave it in active mode: its reads do not use the network.")
    ),
    (
      .neverDownloaded,
      Entry(
        .preconditionFailed, "The requested data has not been downloaded yet.",
        "Download it when the service is reachable; an interrupted download resumes.")
    ),
    (
      .changesPending,
      Entry(.preconditionFailed, "Pending changes would be lost.", "Upload or undo them first.")
    ),
    (
      .entityChanged,
      Entry(
        .preconditionFailed, "The entity has changed since its ETag was read.", "Read it again, and repeat the call.")
    ),
    (
      .entityExists,
      Entry(.preconditionFailed, "There is already an entity with this key.", "Update it, or choose another key.")
    ),
    (
      .wrongEncryptionKey,
      Entry(
        .preconditionFailed, "The store is encrypted with another key.",
        "Give the key that it was encrypted with. Without it the store can only be cleared; changes that were not uploaded are "
          + "lost then.")
    ),
    (
      .encryptionKeyMissing,
      Entry(.preconditionFailed, "The store is encrypted, and no key was given.", "Give the store's key.")
    ),
    (
      .storeNotEncrypted,
      Entry(
        .preconditionFailed, "The store is not encrypted, and a key was given.",
        "Leave the key out, or encrypt the store first.")
    ),
    (
      .otherUser,
      Entry(
        .preconditionFailed, "The store belongs to another user.",
        "Use onUserSwitch to upload that user's pending changes or to set the store aside.")
    ),
    (
      .setAsideNeedsKey,
      Entry(
        .preconditionFailed, "The other user's store is not encrypted, and can be set aside only with a key.",
        "Give setAside a key, and keep it for that user.")
    ),
    (
      .outcomeUncertain,
      Entry(
        .preconditionFailed, "The response to a request was lost, and it is not known whether the request took effect.",
        "Upload when the service is reachable: the upload looks up the request first.")
    ),
    (
      .changeTookEffect,
      Entry(
        .preconditionFailed, "The change has taken effect at the service and cannot be undone.",
        "Make another change that reverts it.")
    ),
    (
      .storeSuspended,
      Entry(.preconditionFailed, "The store is suspended.", "Call resume() when the application is active again.")
    ),
  ]

  private static let notFound: [(OfflineODataErrorName, Entry)] = [
    (.entityNotFound, Entry(.notFound, "There is no such entity in the store.")),
    (.definingQueryNotFound, Entry(.notFound, "There is no defining query with this name.")),
    (
      .mediaNotFound,
      Entry(
        .notFound, "The bytes are not in the store.",
        "Download the stream, or set automaticallyRetrievesStreams for its defining query.")
    ),
    (.resourceNotFound, Entry(.notFound, "The resource does not exist.")),
    (
      .notDownloaded,
      Entry(
        .notFound, "The requested data is not in the store: no defining query includes it.",
        "Add it to a defining query, and download the query.")
    ),
  ]

  private static let notSupported: [(OfflineODataErrorName, Entry)] = [
    (.unsupportedQuery, Entry(.notSupported, "The store does not support this query.")),
    (.unsupportedChange, Entry(.notSupported, "The offline store does not support this change.")),
    (.unsupportedModel, Entry(.notSupported, "The store does not support a part of the model.")),
    (
      .tooManyDefiningQueries,
      Entry(.notSupported, "Too many defining queries return rows of one table.", "Combine some of them.")
    ),
    (.unsupportedRequest, Entry(.notSupported, "An offline store does not support this request.")),
    (.unsupportedStorage, Entry(.notSupported, "The store's file or the storage engine does not support this.")),
    (.unsupportedByService, Entry(.notSupported, "The service or the transport does not support this.")),
    (.insertRestricted, Entry(.notSupported, "The service does not allow creating entities here.")),
    (.updateRestricted, Entry(.notSupported, "The service does not allow updating entities here.")),
    (.deleteRestricted, Entry(.notSupported, "The service does not allow deleting entities here.")),
  ]

  private static let communicationError: [(OfflineODataErrorName, Entry)] = [
    (
      .hostNotFound,
      Entry(.communicationError, "The service's host was not found.", "Check the address and the network.")
    ),
    (.cannotConnect, Entry(.communicationError, "Could not connect to the service.", "Try again later.")),
    (
      .insecureConnection,
      Entry(
        .communicationError, "Could not establish a secure connection to the service.",
        "Trust its certificate, or have it renewed.")
    ),
    (
      .timeout,
      Entry(.communicationError, "The service took too long to respond.", "Try again, or increase the timeout.")
    ),
    (
      .connectionLost,
      Entry(.communicationError, "The connection was lost.", "Try again: interrupted downloads and uploads resume.")
    ),
    (.serviceUnavailable, Entry(.communicationError, "The service is temporarily unavailable.", "Try again later.")),
    (
      .authenticationFailed,
      Entry(.communicationError, "The service did not authenticate the caller.", "Sign in again.")
    ),
    (
      .transportFailed,
      Entry(
        .communicationError, "The transport could not complete the request.",
        "Check the address, redirects, proxies and firewalls.")
    ),
  ]

  private static let serverSideError: [(OfflineODataErrorName, Entry)] = [
    (
      .requestRejected, Entry(.serverSideError, "The service rejected the request.", "Check the address and the query.")
    ),
    (.serviceFailed, Entry(.serverSideError, "The service failed.", "Try again later.")),
    (
      .malformedResponse,
      Entry(
        .serverSideError, "The service's response cannot be read.",
        "Check that the address is the service's, and not that of a sign-in page.")
    ),
    (
      .malformedMetadata,
      Entry(
        .serverSideError, "The service's metadata cannot be read.",
        "Check that the address is the root of an OData service.")
    ),
    (
      .foreignLink,
      Entry(
        .serverSideError, "A link in the service's response leads to another host.",
        "Use the address that the service uses in its own links.")
    ),
    (
      .endlessPages,
      Entry(
        .serverSideError, "The service's next links form a cycle.",
        "Restrict the defining query so that its result fits on one page.")
    ),
    (
      .unreadableEncoding,
      Entry(
        .serverSideError, "The service's response is not in UTF-8.",
        "Configure the service or proxy to send JSON in UTF-8, or to name the encoding in Content-Type.")
    ),
  ]

  private static let clientInternalError: [(OfflineODataErrorName, Entry)] = [
    (.cancelled, Entry(.clientInternalError, "The operation was cancelled.")),
    (.diskFull, Entry(.clientInternalError, "The disk is full.", "Free some disk space.")),
    (
      .storeDamaged,
      Entry(
        .clientInternalError, "The store's file is damaged.",
        "Restore it from a backup. Or clear the store and download again; changes that were not uploaded are lost then."
      )
    ),
    (
      .foreignFile,
      Entry(
        .clientInternalError, "The file is not a store that this version can read.",
        "Use the version of the library that created it, or another name or path.")
    ),
    (
      .fileFailed,
      Entry(
        .clientInternalError, "The store's file could not be used.", "Check that the folder exists and is writable.")
    ),
    (
      .fileMoved,
      Entry(
        .clientInternalError, "The file of the open store was moved, removed or changed.",
        "Close the store, and open it again.")
    ),
    (
      .storeReadOnly,
      Entry(
        .clientInternalError, "The store's file is read-only.",
        "Make the file and its folder writable, or copy the store to a writable folder.")
    ),
    (
      .internalFailure,
      Entry(
        .clientInternalError, "The store failed.",
        "Upload what is pending and report the failure. Clearing the store would lose the changes that were not uploaded."
      )
    ),
  ]
}
