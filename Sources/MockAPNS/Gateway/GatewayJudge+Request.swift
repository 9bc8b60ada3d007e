internal import APNS
internal import JSON

/// The checks that need nothing but the request itself.
extension GatewayJudge {
    var pathReason: GatewayReason? {
        guard let token = request.deviceToken else {
            return request.path.equals("/3/device") ? .missingDeviceToken : .badPath
        }
        if token.isEmpty { return .missingDeviceToken }
        // A token of the right form was found already: it has no slash.
        guard deviceToken.isEmpty else { return nil }
        return token.contains(UInt8(ascii: "/")) ? registry.inferences.longerPathReason : nil
    }

    var hasRepeatedHeader: Bool {
        request.messageID.count > 1 || request.pushType.count > 1 || request.topic.count > 1
            || request.priority.count > 1 || request.expiration.count > 1
            || request.collapseID.count > 1 || request.authorization.count > 1
    }

    var isMessageIDGood: Bool {
        Self.isMessageID(
            request.messageID, upperCase: registry.inferences.acceptsUpperCaseMessageID)
    }

    /// 8-4-4-4-12 hexadecimal digits (Apple: Sending notification requests).
    static func isMessageID(_ header: GatewayRequest.Header, upperCase: Bool) -> Bool {
        guard let value = header.value else { return true }
        guard value.count == UUIDText.count else { return false }
        for (index, byte) in value.enumerated() {
            switch byte {
            case UInt8(ascii: "-"):
                guard UUIDText.isHyphen(index) else { return false }
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"):
                if UUIDText.isHyphen(index) { return false }
            case UInt8(ascii: "A")...UInt8(ascii: "F"):
                guard upperCase, !UUIDText.isHyphen(index) else { return false }
            default: return false
            }
        }
        return true
    }

    var pushTypeReason: GatewayReason? {
        request.pushType.value != nil && pushType == nil ? .invalidPushType : nil
    }

    var topicReason: GatewayReason? {
        guard let topic = request.topic.value, !topic.isEmpty else { return .missingTopic }
        return pushType?.isMismatch(topic: topic) ?? false
            ? registry.inferences.topicMismatchReason : nil
    }

    var priorityReason: GatewayReason? {
        guard let value = request.priority.value else { return nil }
        let priority: Int
        switch value {
        case _ where value.equals("10"): priority = 10
        case _ where value.equals("5"): priority = 5
        case _ where value.equals("1"): priority = 1
        default: return .badPriority
        }
        guard let pushType, !pushType.allows(priority: priority) else { return nil }
        return registry.inferences.priorityOfTypeReason
    }

    /// Seconds since 1970 in decimal digits, as far as 64 bits with a sign go.
    var isExpirationGood: Bool {
        guard let value = request.expiration.value else { return true }
        var seconds: Int64 = 0
        for byte in value {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return false }
            let (shifted, tooLarge) = seconds.multipliedReportingOverflow(by: 10)
            let (sum, overflow) = shifted.addingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
            if tooLarge || overflow { return false }
            seconds = sum
        }
        return !value.isEmpty
    }

    var isCollapseIDGood: Bool {
        (request.collapseID.value?.count ?? 0) <= APNSLimits.collapseIDBytesMax
    }

    var payloadReason: GatewayReason? {
        if request.bodyBytes == 0 { return .payloadEmpty }
        let bytesMax = pushType?.payloadBytesMax ?? APNSLimits.payloadBytesMax
        if request.bodyBytes > bytesMax { return .payloadTooLarge }
        return Self.isJSONObject(request.body) ? nil : registry.inferences.unreadablePayloadReason
    }

    /// Whether the bytes are one JSON object and nothing more. All of it is read, so that a broken
    /// template shows here and not on a phone.
    private static func isJSONObject(_ body: UnsafeRawBufferPointer) -> Bool {
        var scanner = JSONScanner(body)
        do {
            // By pattern: `==` of another module's type is a call through its witness table.
            guard case .beginObject = try scanner.next() else { return false }
            while true {
                if case .end = try scanner.next() { return true }
            }
        } catch {
            return false
        }
    }

    /// Writes a device token in lower case: hexadecimal digits of either case, an even number of
    /// them, as many as any known token has. Returns how many; nil when it has another form.
    static func lowerCase(
        _ token: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> Int? {
        guard token.count.isMultiple(of: 2), token.count >= DeviceToken.hexCharactersMin,
            token.count <= min(DeviceToken.hexCharactersMax, output.count)
        else { return nil }
        guard let source = token.baseAddress, let target = output.baseAddress else { return nil }
        // Without a branch for each byte, so that the compiler takes many at once. Both pointers
        // are good for `token.count` bytes, as was just compared.
        var othersCount = 0
        for index in 0..<token.count {
            let byte = source.load(fromByteOffset: index, as: UInt8.self)
            // The bit makes letters small; digits have it already.
            let small = byte | 0x20
            let isDigit = byte &- UInt8(ascii: "0") < 10
            let isLetter = small &- UInt8(ascii: "a") < 6
            othersCount &+= isDigit != isLetter ? 0 : 1  // a byte is never both
            target.storeBytes(of: small, toByteOffset: index, as: UInt8.self)
        }
        return othersCount == 0 ? token.count : nil
    }
}
