"""A file of a platform that is right."""

__all__ = ["PLATFORM"]

PLATFORM = """\
id: tiny
title: Tiny
description: For tests.
references: ['https://docs.example.com/']
hosts: [chat.example.com, '*.chat.example.com:8443', '[2001:db8::1]']
in_use: [/file_id]
examples:
  - {method: POST, path: '/a?b=c', type: application/json, body: '{"text": "export DEPLOY_TOKEN=F4keK3yF0rT3st"}', secret: F4keK3yF0rT3st, masked: true}
  - {message: hello, path: /a, masked: false}
"""
