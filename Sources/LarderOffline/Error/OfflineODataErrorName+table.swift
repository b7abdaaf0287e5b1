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
    (.malformedURL, Entry(.invalidInput, "The text is no URL of OData.")),
    (.unfittingURL, Entry(.invalidInput, "The URL does not fit the service's model.")),
    (.notPositiveTop, Entry(.invalidInput, "$top is not a whole number of 0 or more.", "Correct the number.")),
    (.notPositiveSkip, Entry(.invalidInput, "$skip is not a whole number of 0 or more.", "Correct the number.")),
    (
      .invalidSkipToken,
      Entry(.invalidInput, "The $skiptoken is none of this question.", "Follow the next link as it was given.")
    ),
    (.duplicateKeyProperty, Entry(.invalidInput, "A property stands twice in the key.", "Give it once.")),
    (.missingKeyProperty, Entry(.invalidInput, "The key is not whole.", "Give each of its properties.")),
    (.invalidValue, Entry(.invalidInput, "The value is none of its type.")),
    (
      .invalidStoreName,
      Entry(.invalidInput, "The store's name cannot be a file's.", "Use letters, digits, '-', '_' and '.'.")
    ),
    (.invalidParameter, Entry(.invalidInput, "A parameter of the store is outside its range.")),
    (
      .invalidDefiningQueryName,
      Entry(
        .invalidInput, "The name cannot be a defining query's.",
        "Use 1 to 128 characters without control characters.")
    ),
    (
      .duplicateDefiningQuery,
      Entry(.invalidInput, "There is a defining query of this name.", "Remove it first, or choose another name.")
    ),
    (.invalidDefiningQuery, Entry(.invalidInput, "The text cannot be a defining query.")),
    (.invalidServiceRoot, Entry(.invalidInput, "The service root is no http or https URL.")),
    (.invalidQuestion, Entry(.invalidInput, "The question has no answer.")),
    (
      .undecodableType,
      Entry(
        .invalidInput, "The answer does not decode to the type.",
        "Ask for a type that holds the values of the declared one.")
    ),
    (.unknownProperty, Entry(.invalidInput, "The type has no such property.")),
    (.nullNotAllowed, Entry(.invalidInput, "The property cannot be null.", "Give a value.")),
    (.keyChanged, Entry(.invalidInput, "The key of an entity does not change.", "Leave the key out.")),
    (.readOnlyProperty, Entry(.invalidInput, "The property is not the client's to set.", "Leave it out.")),
    (.unfittingBody, Entry(.invalidInput, "The content does not fit the request.")),
  ]

  private static let preconditionFailed: [(OfflineODataErrorName, Entry)] = [
    (.storeNotOpen, Entry(.preconditionFailed, "The store is not open.", "Open it first.")),
    (.storeOpen, Entry(.preconditionFailed, "The store is open.", "Close it first.")),
    (
      .downloadRunning,
      Entry(.preconditionFailed, "Another download of this store is on its way.", "Wait for its end, or cancel it.")
    ),
    (
      .uploadRunning,
      Entry(.preconditionFailed, "Another upload of this store is on its way.", "Wait for its end, or cancel it.")
    ),
    (
      .otherService,
      Entry(.preconditionFailed, "The store's file belongs to another service.", "Choose another name or path.")
    ),
    (
      .storeInUse,
      Entry(.preconditionFailed, "Another store or process has the file in use.", "Close that one first.")
    ),
    (
      .neverPassive,
      Entry(
        .preconditionFailed, "An offline store has no passive mode.",
        "Leave it active: it never asks the service for a read.")
    ),
    (
      .neverDownloaded,
      Entry(
        .preconditionFailed, "What is asked for was never downloaded.",
        "Download it while the service is in reach; that goes on where it was cut.")
    ),
    (
      .changesPending,
      Entry(.preconditionFailed, "Changes are queued that would be lost.", "Upload or undo them first.")
    ),
    (
      .entityChanged,
      Entry(.preconditionFailed, "The entity has changed since its ETag was read.", "Read it again and repeat.")
    ),
    (
      .entityExists,
      Entry(.preconditionFailed, "There is an entity with this key.", "Update it, or choose another key.")
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
      Entry(.preconditionFailed, "The store is encrypted, and no key was given.", "Give its key.")
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
        "Send what waits as that user, or set the store aside: onUserSwitch says which.")
    ),
    (
      .setAsideNeedsKey,
      Entry(
        .preconditionFailed, "The other user's store is not encrypted, and is set aside only under a key.",
        "Give setAside a key, and keep it for that user.")
    ),
    (
      .outcomeUncertain,
      Entry(
        .preconditionFailed, "The response to a request was lost, and whether it took effect is not known.",
        "Upload when the service is reachable: the request is looked up first.")
    ),
    (
      .changeTookEffect,
      Entry(
        .preconditionFailed, "The change has taken effect at the service and cannot be taken back.",
        "Make another change that reverts it.")
    ),
    (
      .storeSuspended,
      Entry(.preconditionFailed, "The store is suspended.", "Call resume() when the application is active again.")
    ),
  ]

  private static let notFound: [(OfflineODataErrorName, Entry)] = [
    (.entityNotFound, Entry(.notFound, "There is no such entity in the store.")),
    (.definingQueryNotFound, Entry(.notFound, "There is no defining query of this name.")),
    (
      .mediaNotFound,
      Entry(.notFound, "The bytes are not in the store.", "Download the stream, or let the defining query bring it.")
    ),
    (.resourceNotFound, Entry(.notFound, "The path leads to nothing.")),
    (
      .notDownloaded,
      Entry(
        .notFound, "What is asked for is not in the copy: no defining query has brought it.",
        "Add it to a defining query, and download that.")
    ),
  ]

  private static let notSupported: [(OfflineODataErrorName, Entry)] = [
    (.unsupportedQuery, Entry(.notSupported, "The store does not answer this.")),
    (.unsupportedChange, Entry(.notSupported, "The offline store does not take this change.")),
    (.unsupportedModel, Entry(.notSupported, "The store cannot keep what the model says.")),
    (
      .tooManyDefiningQueries,
      Entry(.notSupported, "Too many defining queries bring rows of one table.", "Join some of them.")
    ),
    (.unsupportedRequest, Entry(.notSupported, "An offline store does not take this request.")),
    (.unsupportedStorage, Entry(.notSupported, "The store's file cannot do this.")),
    (.unsupportedByService, Entry(.notSupported, "The service, or the way to it, cannot do this.")),
    (.insertRestricted, Entry(.notSupported, "The service does not let entities be made here.")),
    (.updateRestricted, Entry(.notSupported, "The service does not let entities be changed here.")),
    (.deleteRestricted, Entry(.notSupported, "The service does not let entities be deleted here.")),
  ]

  private static let communicationError: [(OfflineODataErrorName, Entry)] = [
    (
      .hostNotFound,
      Entry(.communicationError, "The service's host is not known.", "Check the address, or the network.")
    ),
    (.cannotConnect, Entry(.communicationError, "No connection to the service.", "Try again later.")),
    (
      .insecureConnection,
      Entry(.communicationError, "No secure connection to the service.", "Let its certificate be trusted, or renewed.")
    ),
    (.timeout, Entry(.communicationError, "The service took too long.", "Try again, or give it more time.")),
    (
      .connectionLost,
      Entry(.communicationError, "The connection broke off.", "Try again: it goes on where it was cut.")
    ),
    (.serviceUnavailable, Entry(.communicationError, "The service cannot be asked now.", "Try again later.")),
    (.authenticationFailed, Entry(.communicationError, "The service does not know the caller.", "Sign in again.")),
    (
      .transportFailed,
      Entry(.communicationError, "The request did not reach the service.", "Check the address and what lies between.")
    ),
  ]

  private static let serverSideError: [(OfflineODataErrorName, Entry)] = [
    (.requestRefused, Entry(.serverSideError, "The service refused the request.", "Check the address and the query.")),
    (.serviceFailed, Entry(.serverSideError, "The service failed.", "Try again later.")),
    (
      .malformedAnswer,
      Entry(
        .serverSideError, "The service's answer cannot be read.",
        "See that the address is the service's own, and no page to sign in answers there.")
    ),
    (
      .malformedMetadata,
      Entry(
        .serverSideError, "The service's metadata cannot be read.",
        "See that the address is the root of an OData service.")
    ),
    (
      .foreignLink,
      Entry(
        .serverSideError, "A link in the service's answer leads to another host.",
        "Use the address that the service gives itself.")
    ),
    (
      .endlessPages,
      Entry(
        .serverSideError, "The service's pages go in circles.",
        "Restrict the defining query, so that one page holds it.")
    ),
    (
      .unreadableEncoding,
      Entry(
        .serverSideError, "The service's answer is not in UTF-8.",
        "Let the service, or what lies between, send JSON in UTF-8, or name its encoding in Content-Type.")
    ),
  ]

  private static let clientInternalError: [(OfflineODataErrorName, Entry)] = [
    (.cancelled, Entry(.clientInternalError, "The work was cancelled.")),
    (.diskFull, Entry(.clientInternalError, "The disk is full.", "Make room on the disk.")),
    (
      .storeDamaged,
      Entry(
        .clientInternalError, "The store's file is damaged.",
        "Restore it from a copy. Clearing the store fills it again, but loses the changes that were not uploaded.")
    ),
    (
      .foreignFile,
      Entry(
        .clientInternalError, "The file is no store of this version.",
        "Use the version of the library that made it, or another name or path.")
    ),
    (
      .fileFailed,
      Entry(
        .clientInternalError, "The store's file could not be used.", "See that the folder is there and may be written.")
    ),
    (
      .fileMoved,
      Entry(
        .clientInternalError, "The open store's file is not at its place any more.",
        "Close the store, and open it again.")
    ),
    (
      .storeReadOnly,
      Entry(
        .clientInternalError, "The store's file may only be read.",
        "Let the file and its folder be written to, or copy the store to where it may be.")
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
