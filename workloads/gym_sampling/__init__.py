"""Classic Gymnasium environments stepped at random: small messages, little work per message."""
